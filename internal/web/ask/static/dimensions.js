import { el, number } from "../layout/page.js";
import { columns, cut, room, value } from "./rows.js";

const most = 8, rowsMost = 1000;

// show draws each row as a line across its columns: numbers and dates by value, the rest by name.
export function show(node, data) {
  const at = columns(data, "item", "text", "link", "number", "date").slice(0, most), rows = data.rows.slice(0, rowsMost);
  const wide = Math.max(room(node, 280, 1100), at.length * 120), high = 460, top = 36, low = high - 20;
  const place = (i) => 60 + (i * (wide - 170)) / Math.max(1, at.length - 1);
  const scales = at.map((c) => {
    const measured = ["number", "date"].includes(data.rows.find((row) => row[c].kind)[c].kind);
    const values = measured ? rows.map((row) => value(row[c])).filter(isFinite) : [...new Set(rows.map((row) => row[c].text).filter(Boolean))].sort((a, b) => a.localeCompare(b));
    const min = measured ? Math.min(...values) : 0, max = measured ? Math.max(...values) : values.length - 1, places = new Map(measured ? [] : values.map((v, i) => [v, i]));
    const y = (cell) => low - (((measured ? value(cell) : places.get(cell.text)) - min) / (max - min || 1)) * (low - top);
    const label = (v) => (Number.isFinite(v) && data.rows.some((row) => row[c].kind === "date") ? String(Math.floor((v - 32) / 372)) : number(Math.abs(v) > 100 ? Math.round(v) : v));
    const marks = measured ? [min, (min + max) / 2, max].map((v) => [low - ((v - min) / (max - min || 1)) * (low - top), label(v)]) : values.length <= 24 ? values.map((v, i) => [low - (i / (values.length - 1 || 1)) * (low - top), v]) : [];
    return { c, y, marks };
  });
  node.append(el("div", { class: "scroll", tabindex: 0 }, el("svg", { class: "drawing", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": at.map((c) => data.columns[c]).join(", "), direction: "ltr" },
    rows.map((row) => el("polyline", { class: "strand", points: scales.map((s, i) => (row[s.c].kind ? `${place(i)},${s.y(row[s.c]).toFixed(1)}` : null)).filter((p) => p && !p.includes("NaN")).join(" ") }, el("title", {}, at.map((c) => row[c].text).join(" · ")))),
    scales.map((s, i) => el("g", {}, el("line", { class: "edge", x1: place(i), x2: place(i), y1: top, y2: low }), el("text", { x: place(i), y: 18, "text-anchor": "middle" }, data.columns[s.c]), s.marks.map(([y, label]) => el("text", { class: "halo", x: place(i) + 6, y: y + 4 }, cut(label, 18))))))));
}
