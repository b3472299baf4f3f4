import { el, safe } from "../layout/page.js";
import { arrange, columns, cut, room } from "./rows.js";

// show draws things as points, connected by lines if they occur in one row, and arranges them with a short spring
// simulation.
export function show(node, data) {
  const at = columns(data, "item");
  const nodes = new Map(), edges = new Map();
  for (const row of data.rows) {
    const cells = at.map((i) => row[i]).filter((c) => c.id);
    for (const c of cells) if (!nodes.has(c.id)) nodes.set(c.id, { ...c, n: nodes.size, links: 0 });
    for (const c of cells.slice(1)) {
      const key = cells[0].id + " " + c.id;
      if (cells[0].id !== c.id && !edges.has(key)) edges.set(key, [nodes.get(cells[0].id), nodes.get(c.id)]);
    }
  }
  const all = [...nodes.values()], lines = [...edges.values()];
  for (const [a, b] of lines) { a.links++; b.links++; }
  const wide = room(node, 300, 1100), high = Math.max(420, all.length * 11000 / wide), side = Math.min(wide, high);
  all.forEach((p, i) => { const angle = i * 2.399963, r = Math.sqrt((i + 1) / all.length) / 3; p.x = wide / 2 + wide * r * Math.cos(angle); p.y = high / 2 + high * r * Math.sin(angle); });
  const rounds = all.length > 300 ? 40 : 150, want = Math.sqrt(wide * high / (all.length + 1)) * 0.8, pull = [0.12 * side / wide, 0.12 * side / high];
  for (let round = 0; round < rounds; round++) {
    const heat = want * (1 - round / rounds) * 0.3;
    for (const p of all) { p.dx = (wide / 2 - p.x) * pull[0]; p.dy = (high / 2 - p.y) * pull[1]; }
    for (let i = 0; i < all.length; i++) for (let j = 0; j < i; j++) {
      const a = all[i], b = all[j], x = a.x - b.x || 0.1, y = a.y - b.y || 0.1, d = Math.hypot(x, y), f = Math.min(8, want * want / d / d * 0.35);
      a.dx += x * f; a.dy += y * f; b.dx -= x * f; b.dy -= y * f;
    }
    for (const [a, b] of lines) { const x = a.x - b.x, y = a.y - b.y, f = Math.hypot(x, y) / want * 0.07; a.dx -= x * f; a.dy -= y * f; b.dx += x * f; b.dy += y * f; }
    for (const p of all) { const d = Math.hypot(p.dx, p.dy) || 1, f = Math.min(d, heat) / d; p.x += p.dx * f; p.y += p.dy * f; }
  }
  for (const [axis, size] of [["x", wide - 130], ["y", high - 40]]) { // as large as the drawing, with room for names at the end
    const values = all.map((p) => p[axis]), least = Math.min(...values), span = Math.max(...values) - least || 1;
    for (const p of all) p[axis] = 20 + (p[axis] - least) / span * size;
  }
  for (const p of all) p.name = cut(p.text, 24);
  arrange(all, [0, 0, wide, high]);
  for (const p of all) p.at ??= { anchor: "start", x: p.x + 11, y: p.y + 4 };
  node.append(el("div", { class: "scroll" }, el("svg", { class: "drawing", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "group", "aria-label": data.columns.join(", ") },
    lines.map(([a, b]) => el("line", { class: "edge", x1: a.x, y1: a.y, x2: b.x, y2: b.y })),
    all.map((p) => { const address = safe(p.url); const mark = [el("circle", { class: "node", cx: p.x, cy: p.y, r: 5 + Math.min(8, Math.sqrt(p.links)) }), el("text", { class: "halo", x: p.at.x, y: p.at.y, "text-anchor": p.at.anchor }, p.name), el("title", {}, p.text)]; return address ? el("svg:a", { href: address, rel: "noopener noreferrer" }, mark) : el("g", {}, mark); }))));
}
