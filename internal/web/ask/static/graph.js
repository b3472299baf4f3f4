import { el, safe } from "../layout/page.js";
import { columns } from "./rows.js";

// show draws things as points and their meeting in a row as lines, laid out by springs for a moment.
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
  const side = Math.max(420, Math.sqrt(all.length) * 100);
  all.forEach((p, i) => { const angle = i * 2.399963, r = side / 3 * Math.sqrt((i + 1) / all.length); p.x = side / 2 + r * Math.cos(angle); p.y = side / 2 + r * Math.sin(angle); });
  const rounds = all.length > 300 ? 40 : 150, want = side / Math.sqrt(all.length + 1) * 0.8;
  for (let round = 0; round < rounds; round++) {
    const heat = want * (1 - round / rounds) * 0.3;
    for (const p of all) { p.dx = (side / 2 - p.x) * 0.12; p.dy = (side / 2 - p.y) * 0.12; }
    for (let i = 0; i < all.length; i++) for (let j = 0; j < i; j++) {
      const a = all[i], b = all[j], x = a.x - b.x || 0.1, y = a.y - b.y || 0.1, d = Math.hypot(x, y), f = Math.min(8, want * want / d / d * 0.35);
      a.dx += x * f; a.dy += y * f; b.dx -= x * f; b.dy -= y * f;
    }
    for (const [a, b] of lines) { const x = a.x - b.x, y = a.y - b.y, f = Math.hypot(x, y) / want * 0.07; a.dx -= x * f; a.dy -= y * f; b.dx += x * f; b.dy += y * f; }
    for (const p of all) { const d = Math.hypot(p.dx, p.dy) || 1, f = Math.min(d, heat) / d; p.x += p.dx * f; p.y += p.dy * f; }
  }
  for (const axis of ["x", "y"]) { // as large as the drawing
    const values = all.map((p) => p[axis]), least = Math.min(...values), span = Math.max(...values) - least || 1;
    for (const p of all) p[axis] = 20 + (p[axis] - least) / span * (side - 40);
  }
  node.append(el("div", { class: "scroll" }, el("svg", { class: "drawing", viewBox: `-60 0 ${side + 160} ${side}`, width: side + 160, role: "group", "aria-label": data.columns.join(", ") },
    lines.map(([a, b]) => el("line", { class: "edge", x1: a.x, y1: a.y, x2: b.x, y2: b.y })),
    all.map((p) => { const address = safe(p.url); const mark = [el("circle", { class: "node", cx: p.x, cy: p.y, r: 5 + Math.min(8, Math.sqrt(p.links)) }), el("text", { x: p.x + 10, y: p.y + 4 }, p.text)]; return address ? el("svg:a", { href: address, rel: "noopener noreferrer" }, mark) : el("g", {}, mark); }))));
}
