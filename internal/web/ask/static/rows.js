// What the views share: columns by the kind of their values, and links.
import { el, safe } from "../layout/page.js";

// columns lists the columns with a value of a kind.
export function columns(data, ...kinds) {
  return data.columns.map((_, i) => i).filter((i) => kinds.includes(data.rows.find((row) => row[i].kind)?.[i].kind));
}

// naming is the column that names the rows: the first one of things, else of texts, else the first.
export function naming(data) {
  return [columns(data, "item"), columns(data, "link", "text"), [0]].find((list) => list.length)[0];
}

// name is the cell that names a row.
export function name(data) {
  const at = naming(data);
  return (row) => row[at];
}

// link is a cell as text that leads to the thing, where it leads anywhere.
export function link(cell) {
  const address = cell.url && safe(cell.url);
  return address ? el("a", { href: address, rel: "noopener noreferrer", dir: "auto" }, cell.text) : el("span", { dir: "auto" }, cell.text);
}

// others describes a row by its other cells, without those that the query's line #defaultView hides.
export function others(data, row, ...without) {
  return row.map((cell, i) => (without.includes(cell) || !cell.kind || data.hide?.includes(data.columns[i]) ? null : `${data.columns[i]}: ${cell.text}`)).filter(Boolean).join("; ");
}

// room is how wide a drawing may be.
export function room(node, least, most) { return Math.min(most, Math.max(least, node.clientWidth - 2)); }

// cut shortens a text to so many characters.
export function cut(text, most) { return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text; }

// time is a date as a number that grows with it; years have 372 days here, which no picture shows.
export function time(text) {
  const [, sign, year, month = "1", day = "1"] = /^(-?)(\d+)(?:-(\d+))?(?:-(\d+))?/.exec(text) ?? [];
  return year === undefined ? NaN : (sign ? -1 : 1) * Number(year) * 372 + Number(month) * 31 + Number(day);
}

// value is a cell as a number, NaN for none.
export function value(cell) { return !cell.kind ? NaN : cell.kind === "date" ? time(cell.text) : Number(cell.text); }
