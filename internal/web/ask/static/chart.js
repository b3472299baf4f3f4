import { el, number, t } from "../layout/page.js";
import { columns, cut, name, naming, room, value } from "./rows.js";

const most = { bar: 60, bubble: 120, treemap: 120 }; // things in a chart
const colors = 8;
const drawings = { bar: bars, line: (...a) => across(...a, "line"), area: (...a) => across(...a, "area"), scatter: (...a) => across(...a, "scatter"), bubble, treemap };

// show draws the numbers of a result as a chart, of the kind chosen by the query's #defaultView line or by the reader.
export function show(node, data) {
  const xy = axes(data);
  const kinds = Object.keys(drawings).filter((kind) => xy || !["line", "area", "scatter"].includes(kind));
  let kind = kinds.includes(data.kind) ? data.kind : xy?.date ? "line" : "bar";
  const place = el("div", { class: "chart" });
  const draw = () => { place.replaceChildren(); drawings[kind](place, data); };
  node.append(el("label", { class: "row small chart-kind" }, el("span", {}, t("ask.chart")), el("select", { onchange: (event) => { kind = event.target.value; draw(); } }, kinds.map((k) => el("option", { value: k, selected: k === kind }, t("ask.chart." + k))))), place);
  draw();
}

function drawing(wide, high, label, ...parts) {
  return el("svg", { class: "drawing", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": label, direction: "ltr" }, ...parts);
}

// sized returns the things of a chart with one number each, the largest first if they are ordered by size.
function sized(data, kind) {
  const at = columns(data, "number")[0], named = name(data);
  const all = data.rows.map((row) => ({ label: named(row).text, v: value(row[at]) })).filter((x) => isFinite(x.v) && (kind === "bar" || x.v > 0));
  if (kind !== "bar") all.sort((a, b) => b.v - a.v);
  return { at, all: all.slice(0, most[kind]), cut: all.length - most[kind] };
}

// rest shows how many things did not fit.
function rest(node, things) { if (things.cut > 0) node.append(el("p", { class: "note small" }, t("ask.view.part", { count: things.all.length }))); }

function bars(node, data) {
  const things = sized(data, "bar"), rows = things.all;
  const wide = room(node, 280, 1100), left = Math.min(260, wide * 0.36), high = 24, end = wide > 500 ? 110 : 84;
  const values = rows.map((row) => row.v);
  const least = Math.min(0, ...values), scale = (wide - left - end) / (Math.max(0, ...values) - least || 1);
  const x = (v) => left + (v - least) * scale;
  rest(node, things);
  node.append(drawing(wide, rows.length * high + 30, data.columns[things.at],
    el("text", { x: left, y: 16 }, data.columns[things.at]),
    rows.map((row, i) => el("g", {}, el("title", {}, `${row.label}: ${number(row.v)}`),
      el("text", { x: left - 8, y: 40 + i * high, "text-anchor": "end" }, cut(row.label, Math.floor(left / 6.6))),
      el("rect", { class: "bar", x: Math.min(x(0), x(row.v)), y: 27 + i * high, width: Math.max(1, Math.abs(x(row.v) - x(0))), height: high - 7 }),
      el("text", { x: Math.max(x(0), x(row.v)) + 6, y: 40 + i * high }, number(row.v))))));
}

// axes returns the columns for the horizontal and the vertical axis, with dates preferred to numbers for the horizontal
// one, or null if there is only one column to show.
function axes(data) {
  const numbers = columns(data, "number"), dates = columns(data, "date");
  if (dates.length && numbers.length) return { x: dates[0], y: numbers[0], date: true };
  return numbers.length > 1 ? { x: numbers[0], y: numbers[1], date: false } : null;
}

// series groups the points by the rows' names if a few names occur repeatedly; otherwise all points are one series.
function series(data, at) {
  const by = naming(data), names = new Map();
  for (const row of data.rows) {
    const p = { x: value(row[at.x]), y: value(row[at.y]), label: row[at.x].text, name: by === at.x || by === at.y ? "" : row[by].text };
    if (!isFinite(p.x) || !isFinite(p.y)) continue;
    if (!names.has(p.name)) names.set(p.name, []);
    names.get(p.name).push(p);
  }
  const all = [...names.values()];
  for (const points of all) points.sort((a, b) => a.x - b.x);
  return all.length > 1 && all.length <= colors && all.some((points) => points.length > 1) ? all : [all.flat().sort((a, b) => a.x - b.x)];
}

// ticks returns round numbers between two numbers.
function ticks(low, high, want) {
  const raw = (high - low || 1) / want, power = 10 ** Math.floor(Math.log10(raw)), unit = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
  const out = [];
  for (let v = Math.ceil(low / unit) * unit; v <= high + unit / 1e6; v += unit) out.push(Math.abs(v) < unit / 1e6 ? 0 : v);
  return out;
}

// across draws points by two columns, joined by lines, with the area below filled, or on their own.
function across(node, data, form) {
  const at = axes(data), all = series(data, at), points = all.flat();
  if (!points.length) return;
  const wide = room(node, 280, 1100), high = 380, bottom = 58, top = 24;
  const xs = points.map((p) => p.x), ys = points.map((p) => p.y), few = form === "scatter" ? Math.min(...ys) : Math.min(0, ...ys);
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = few, y1 = Math.max(...ys);
  const heights = ticks(y0, y1, 6), left = 16 + 7 * Math.max(...heights.map((v) => number(v).length)); // as wide as the longest number
  const x = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (wide - left - 24), y = (v) => high - bottom - ((v - y0) / (y1 - y0 || 1)) * (high - bottom - top);
  const years = at.date ? ticks(x0 / 372, x1 / 372, wide > 500 ? 8 : 4).filter((v) => Number.isInteger(v)).map((v) => [v * 372 + 32, String(v)]) : ticks(x0, x1, wide > 500 ? 8 : 4).map((v) => [v, number(v)]);
  const shape = (list) => list.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(" ");
  const written = []; // where names are, so that none is written over another
  const note = (p) => {
    const right = x(p.x) <= wide * 0.75, text = cut(p.name, 18), from = x(p.x) + (right ? 8 : -8 - text.length * 6.2), to = from + text.length * 6.2;
    if (!text || written.some((w) => w.from < to && from < w.to && Math.abs(w.y - y(p.y)) < 13)) return null;
    written.push({ from, to, y: y(p.y) });
    return el("text", { class: "quiet halo", x: x(p.x) + (right ? 8 : -8), y: y(p.y) + 4, "text-anchor": right ? "start" : "end" }, text);
  };
  if (all.length > 1) node.append(el("ul", { class: "legend small" }, all.map((list, i) => el("li", { class: `s${i}` }, el("span", { dir: "auto" }, list[0].name)))));
  node.append(drawing(wide, high, `${data.columns[at.x]}, ${data.columns[at.y]}`,
    el("text", { x: 4, y: 14 }, data.columns[at.y]), el("text", { x: wide - 24, y: high - 8, "text-anchor": "end" }, data.columns[at.x]),
    heights.map((v) => el("g", {}, el("line", { class: "axis", x1: left, x2: wide - 24, y1: y(v), y2: y(v) }), el("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, number(v)))),
    years.filter(([v]) => v >= x0 && v <= x1).map(([v, label]) => el("g", {}, el("line", { class: "axis", x1: x(v), x2: x(v), y1: high - bottom, y2: high - bottom + 5 }), el("text", { x: x(v), y: high - bottom + 20, "text-anchor": "middle" }, label))),
    all.map((list, i) => el("g", { class: `s${i}` },
      form === "area" && el("polygon", { class: "area", points: `${x(list[0].x)},${y(Math.max(y0, 0))} ${shape(list)} ${x(list[list.length - 1].x)},${y(Math.max(y0, 0))}` }),
      form !== "scatter" && el("polyline", { class: "line", points: shape(list) }),
      form === "scatter" && points.length <= 200 && list.map(note).filter(Boolean),
      (form === "scatter" || list.length <= 400) && list.map((p) => el("circle", { class: "dot", cx: x(p.x), cy: y(p.y), r: form === "scatter" ? 5 : 3 }, el("title", {}, `${p.name ? p.name + ", " : ""}${p.label}: ${number(p.y)}`)))))));
}

// bubble packs circles whose areas are the numbers, the largest in the middle.
function bubble(node, data) {
  const things = sized(data, "bubble"), wide = room(node, 280, 1100), sum = things.all.reduce((n, x) => n + x.v, 0);
  const placed = [];
  for (const x of things.all) {
    const r = Math.max(5, Math.sqrt(x.v / sum) * wide * 0.42);
    let angle = 0, away = 0, at = { x: 0, y: 0 };
    while (placed.some((p) => Math.hypot(p.x - at.x, p.y - at.y) < p.r + r + 2)) {
      angle += 0.35;
      away += 0.9;
      at = { x: away * Math.cos(angle), y: away * Math.sin(angle) * 0.75 };
    }
    placed.push({ ...at, r, ...x });
  }
  const low = (f) => Math.min(0, ...placed.map(f)), high = (f) => Math.max(1, ...placed.map(f));
  const x0 = low((p) => p.x - p.r), x1 = high((p) => p.x + p.r), y0 = low((p) => p.y - p.r), y1 = high((p) => p.y + p.r), scale = Math.min(1, (wide - 8) / (x1 - x0));
  rest(node, things);
  node.append(drawing(wide, (y1 - y0) * scale + 8, data.columns[things.at], placed.map((p, i) => {
    const cx = (p.x - (x0 + x1) / 2) * scale + wide / 2, cy = (p.y - y0) * scale + 4, r = p.r * scale;
    return el("g", { class: `s${i % colors}` }, el("title", {}, `${p.label}: ${number(p.v)}`), el("circle", { class: "tile", cx, cy, r }), words(p, cx, cy, r * 1.8, r * 1.4));
  })));
}

// treemap fills an area with boxes whose areas are the numbers: each part is split in half along its longer side.
function treemap(node, data) {
  const things = sized(data, "treemap"), wide = room(node, 280, 1100), high = wide > 500 ? 480 : 560, boxes = [];
  const fill = (list, x, y, w, h) => {
    if (!list.length) return;
    if (list.length === 1) { boxes.push({ ...list[0], x, y, w, h }); return; }
    const sum = list.reduce((n, b) => n + b.v, 0);
    let at = 1, part = list[0].v;
    while (at < list.length - 1 && part + list[at].v / 2 < sum / 2) part += list[at++].v;
    const share = part / sum;
    if (w > h) { fill(list.slice(0, at), x, y, w * share, h); fill(list.slice(at), x + w * share, y, w * (1 - share), h); } else { fill(list.slice(0, at), x, y, w, h * share); fill(list.slice(at), x, y + h * share, w, h * (1 - share)); }
  };
  fill(things.all, 0, 0, wide, high);
  rest(node, things);
  node.append(drawing(wide, high, data.columns[things.at], boxes.map((b, i) => el("g", { class: `s${i % colors}` }, el("title", {}, `${b.label}: ${number(b.v)}`),
    el("rect", { class: "tile", x: b.x + 1, y: b.y + 1, width: Math.max(0, b.w - 2), height: Math.max(0, b.h - 2) }), words(b, b.x + b.w / 2, b.y + b.h / 2, b.w - 10, b.h - 6)))));
}

// words returns as much of a thing's name and number as fits into a width and a height.
function words(thing, x, y, wide, high) {
  const room = Math.floor(wide / 6.6);
  if (room < 3 || high < 14) return null;
  const two = high >= 32;
  return [el("text", { x, y: two ? y - 3 : y + 4, "text-anchor": "middle" }, cut(thing.label, room)), two && number(thing.v).length <= room && el("text", { class: "quiet", x, y: y + 13, "text-anchor": "middle" }, number(thing.v))];
}
