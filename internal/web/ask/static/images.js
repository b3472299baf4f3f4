import { el, safe, t } from "../layout/page.js";
import { columns, link, name, others } from "./rows.js";

const step = 60; // pictures that are added at once

// show makes a grid of the result's pictures. They come through this server, the visible ones first; a picture that is
// not available is replaced by its name. If the server fetches no pictures, they are links.
export function show(node, data) {
  const named = name(data);
  const all = data.rows.flatMap((row, i) => columns(data, "image").filter((c) => row[c].kind === "image").map((c) => ({ row, cell: row[c], address: `${data.base}/picture/${data.numbers[i]}/${encodeURIComponent(data.columns[c])}` })));
  if (!data.pictures) node.append(el("p", { class: "note small" }, t("ask.view.images.note")));
  const grid = el("ul", { class: "imagegrid" });
  const more = el("button", { type: "button", onclick: add }, t("ask.view.more"));
  let shown = 0;
  function add() {
    const first = shown;
    for (const p of all.slice(shown, shown += step)) grid.append(tile(p, named(p.row), data));
    more.hidden = shown >= all.length;
    if (first) grid.children[first].querySelector("a")?.focus();
  }
  node.append(grid, el("p", { class: "centered" }, more));
  add();
}

function tile({ row, cell, address }, title, data) {
  const rest = others(data, row, title, cell);
  const words = el("div", {}, title === cell ? null : el("b", {}, link(title)), rest && el("span", { class: "soft small" }, rest), title === cell || !data.pictures ? link(cell) : null);
  if (!data.pictures) return el("li", {}, words);
  const image = el("img", { src: address, alt: cell.text.replace(/\.[^.]*$/, ""), loading: "lazy", decoding: "async" });
  const frame = el("a", { class: "frame", href: safe(cell.url), rel: "noopener noreferrer", title: cell.text }, image);
  image.addEventListener("error", () => { frame.classList.add("without"); frame.replaceChildren(el("span", {}, t("ask.nopicture")), el("span", { class: "small", dir: "auto" }, cell.text)); });
  return el("li", {}, frame, words);
}
