// Code that the views share: columns by the kind of their values, and links.
import { el, safe } from "../layout/page.js";

// columns lists the columns with a value of a kind.
export function columns(data, ...kinds) {
  return data.columns.map((_, i) => i).filter((i) => kinds.includes(data.rows.find((row) => row[i].kind)?.[i].kind));
}

// naming returns the column that names the rows: the first one of things, otherwise of texts, otherwise the first.
export function naming(data) {
  return [columns(data, "item"), columns(data, "link", "text"), [0]].find((list) => list.length)[0];
}

// name returns the cell that names a row.
export function name(data) {
  const at = naming(data);
  return (row) => row[at];
}

// link returns a cell as text, linked if the cell has an address.
export function link(cell) {
  const address = cell.url && safe(cell.url);
  return address ? el("a", { href: address, rel: "noopener noreferrer", dir: "auto" }, cell.text) : el("span", { dir: "auto" }, cell.text);
}

// others describes a row by its other cells, without those that the query's #defaultView line hides.
export function others(data, row, ...without) {
  return row.map((cell, i) => (without.includes(cell) || !cell.kind || data.hide?.includes(data.columns[i]) ? null : `${data.columns[i]}: ${cell.text}`)).filter(Boolean).join("; ");
}

// arrange places the name of each point, {x, y, name}, on a side where it covers no point and no other name. It sets
// the point's at to that side, with the position and the anchor of the name, or leaves it undefined if there is no such
// side.
export function arrange(points, [left, top, right, bottom]) {
  const taken = points.map((p) => [p.x - 7, p.y - 7, p.x + 7, p.y + 7]);
  for (const p of points) {
    const long = p.name.length * 6.6;
    const sides = [["right", "start", p.x + 11, p.y + 4, p.x + 11], ["left", "end", p.x - 11, p.y + 4, p.x - 11 - long], ["bottom", "middle", p.x, p.y + 21, p.x - long / 2], ["top", "middle", p.x, p.y - 12, p.x - long / 2]].map(([side, anchor, x, y, from]) => ({ side, anchor, x, y, box: [from, y - 10, from + long, y + 3] }));
    p.at = sides.find(({ box: [a, b, c, d] }) => a >= left && c <= right && b >= top && d <= bottom && taken.every(([e, f, g, h]) => c < e || g < a || d < f || h < b));
    if (p.at) taken.push(p.at.box);
  }
}

// room returns the maximum width of a drawing.
export function room(node, least, most) { return Math.min(most, Math.max(least, node.clientWidth - 2)); }

// cut shortens a text to a number of characters.
export function cut(text, most) { return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text; }

// time returns a date as a number that grows with it; years have 372 days here, a difference that no drawing shows.
export function time(text) {
  const [, sign, year, month = "1", day = "1"] = /^(-?)(\d+)(?:-(\d+))?(?:-(\d+))?/.exec(text) ?? [];
  return year === undefined ? NaN : (sign ? -1 : 1) * Number(year) * 372 + Number(month) * 31 + Number(day);
}

// value returns a cell as a number, or NaN.
export function value(cell) { return !cell.kind ? NaN : cell.kind === "date" ? time(cell.text) : Number(cell.text); }
