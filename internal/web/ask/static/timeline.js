import { el } from "../layout/page.js";
import { columns, link, name, others } from "./rows.js";

// show lists the rows by their first date, with a heading for each year, decade or century.
export function show(node, data) {
  const at = columns(data, "date")[0];
  const named = name(data);
  const rows = data.rows.filter((row) => row[at].kind).map((row) => ({ row, year: year(row[at].text) }));
  rows.sort((a, b) => a.year - b.year || (a.row[at].text < b.row[at].text ? -1 : 1));
  const span = rows.length ? rows[rows.length - 1].year - rows[0].year : 0;
  const unit = [1, 5, 10, 25, 50, 100, 500, 1000].find((u) => span / u <= 8) ?? 5000;
  let last = null, list;
  for (const { row, year } of rows) {
    const start = Math.floor(year / unit) * unit;
    if (start !== last) {
      list = el("ol", { class: "timeline" });
      node.append(el("section", { class: "timeline" }, el("h3", {}, unit === 1 ? String(start) : `${start}–${start + unit - 1}`), list));
      last = start;
    }
    list.append(el("li", {}, el("time", {}, row[at].text), el("span", {}, link(named(row)), " ", el("span", { class: "soft small" }, others(data, row, named(row), row[at])))));
  }
}

function year(text) { return Number(/^-?\d+/.exec(text)?.[0] ?? NaN); }
