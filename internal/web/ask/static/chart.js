import { el, number } from "../layout/page.js";
import { columns, name } from "./rows.js";

const most = 60;

// show draws bars of the first column of numbers, or a line where the other column is dates.
export function show(node, data) {
  const at = columns(data, "number")[0];
  const dates = columns(data, "date");
  const named = name(data);
  const rows = data.rows.filter((row) => row[at].kind && isFinite(Number(row[at].text)));
  if (dates.length) line(node, data, rows, at, dates[0]);
  else bars(node, data, rows.slice(0, most), at, named);
}

function bars(node, data, rows, at, named) {
  const wide = 900, left = 260, high = 24;
  const values = rows.map((row) => Number(row[at].text));
  const least = Math.min(0, ...values), scale = (wide - left - 110) / (Math.max(0, ...values) - least || 1);
  const x = (v) => left + (v - least) * scale;
  node.append(el("div", { class: "scroll" }, el("svg", { class: "drawing", viewBox: `0 0 ${wide} ${rows.length * high + 30}`, width: wide, role: "img", "aria-label": data.columns[at], direction: "ltr" },
    el("text", { x: left, y: 16 }, data.columns[at]),
    rows.map((row, i) => el("g", {}, el("title", {}, `${named(row).text}: ${number(values[i])}`),
      el("text", { x: left - 8, y: 40 + i * high, "text-anchor": "end" }, cut(named(row).text)),
      el("rect", { class: "bar", x: Math.min(x(0), x(values[i])), y: 27 + i * high, width: Math.max(1, Math.abs(x(values[i]) - x(0))), height: high - 7 }),
      el("text", { x: Math.max(x(0), x(values[i])) + 6, y: 40 + i * high }, number(values[i])))))));
}

function line(node, data, rows, at, date) {
  const points = rows.map((row) => ({ x: time(row[date].text), y: Number(row[at].text), label: row[date].text })).filter((p) => isFinite(p.x)).sort((a, b) => a.x - b.x);
  if (!points.length) return;
  const wide = 900, high = 360, left = 90, bottom = 40;
  const xs = points.map((p) => p.x), ys = points.map((p) => p.y);
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(0, ...ys), y1 = Math.max(...ys);
  const x = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (wide - left - 20), y = (v) => high - bottom - ((v - y0) / (y1 - y0 || 1)) * (high - bottom - 20);
  node.append(el("div", { class: "scroll" }, el("svg", { class: "drawing", viewBox: `0 0 ${wide} ${high}`, width: wide, role: "img", "aria-label": data.columns[at], direction: "ltr" },
    [0, 0.25, 0.5, 0.75, 1].map((f) => { const v = y0 + f * (y1 - y0); return el("g", {}, el("line", { class: "axis", x1: left, x2: wide - 20, y1: y(v), y2: y(v) }), el("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, number(Math.round(v * 100) / 100))); }),
    el("polyline", { class: "line", points: points.map((p) => `${x(p.x)},${y(p.y)}`).join(" ") }),
    points.map((p) => el("circle", { class: "node", cx: x(p.x), cy: y(p.y), r: 3 }, el("title", {}, `${p.label}: ${number(p.y)}`))),
    el("text", { x: left, y: high - 12 }, points[0].label), el("text", { x: wide - 20, y: high - 12, "text-anchor": "end" }, points[points.length - 1].label))));
}

function time(text) { const [, sign, year, month = "1", day = "1"] = /^(-?)(\d+)(?:-(\d+))?(?:-(\d+))?/.exec(text) ?? []; return year === undefined ? NaN : (sign ? -1 : 1) * Number(year) * 372 + Number(month) * 31 + Number(day); }

function cut(text) { return text.length > 38 ? text.slice(0, 37) + "…" : text; }
