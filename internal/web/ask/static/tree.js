import { el } from "../layout/page.js";
import { columns, link } from "./rows.js";

const open = 300; // a tree with more things begins closed

// show lists things as a tree: a row is a path from its first column of things to its last one.
export function show(node, data) {
  const at = columns(data, "item"), root = new Map();
  let count = 0;
  for (const row of data.rows) {
    let level = root;
    for (const cell of at.map((i) => row[i]).filter((c) => c.id)) {
      if (!level.has(cell.id)) { level.set(cell.id, { cell, below: new Map() }); count++; }
      level = level.get(cell.id).below;
    }
  }
  const list = (level, shown) => el("ul", { hidden: !shown }, [...level.values()].map(({ cell, below }) => {
    if (!below.size) return el("li", {}, el("span", { class: "leaf" }), link(cell));
    const inner = list(below, count <= open);
    return el("li", {}, el("button", { type: "button", class: "fold", "aria-label": cell.text, "aria-expanded": String(!inner.hidden), onclick: (event) => { inner.hidden = !inner.hidden; event.target.setAttribute("aria-expanded", String(!inner.hidden)); } }), link(cell), " ", el("span", { class: "soft small" }, String(below.size)), inner);
  }));
  node.append(el("div", { class: "branches", tabindex: 0 }, list(root, true)));
}
