// What the views share: columns by the kind of their values, and links.
import { el, safe } from "../layout/page.js";

// columns lists the columns with a value of a kind.
export function columns(data, ...kinds) {
  return data.columns.map((_, i) => i).filter((i) => kinds.includes(data.rows.find((row) => row[i].kind)?.[i].kind));
}

// name is the cell that names a row: the first thing, else the first text, else the first value.
export function name(data) {
  const at = [columns(data, "item"), columns(data, "link", "text"), [0]].find((list) => list.length)[0];
  return (row) => row[at];
}

// link is a cell as text that leads to the thing, where it leads anywhere.
export function link(cell) {
  const address = cell.url && safe(cell.url);
  return address ? el("a", { href: address, rel: "noopener noreferrer", dir: "auto" }, cell.text) : el("span", { dir: "auto" }, cell.text);
}

// others describes a row by its other cells.
export function others(data, row, ...without) {
  return row.map((cell, i) => (without.includes(cell) || !cell.kind ? null : `${data.columns[i]}: ${cell.text}`)).filter(Boolean).join("; ");
}
