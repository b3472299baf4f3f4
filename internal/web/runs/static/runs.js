// The script of the runs' pages: it zooms the pictures of trees, and watches a run in progress.
import { ask, el, t } from "../layout/page.js";

const tree = document.querySelector(".tree"), bar = document.getElementById("zoom");
if (tree && bar) {
  let size = 1;
  // show scales the picture; the part at a point of the window stays there, or moves to another point
  const show = (to, at, from = at) => {
    const box = tree.getBoundingClientRect(), old = size;
    at ??= { x: box.left + tree.clientWidth / 2, y: box.top + tree.clientHeight / 2 };
    from ??= at;
    const x = (tree.scrollLeft + from.x - box.left) / old, y = (tree.scrollTop + from.y - box.top) / old;
    size = Math.min(4, Math.max(0.5, to));
    tree.style.setProperty("--zoom", size);
    tree.scrollTo(x * size - (at.x - box.left), y * size - (at.y - box.top));
  };
  const ways = [["−", "out", "-", () => size / 1.25], ["fit", "fit", "0", () => 1], ["+", "in", "+", () => size * 1.25]];
  bar.append(...ways.map(([sign, name, key, to]) => el("button", { type: "button", class: "compact", "aria-label": t("runs.zoom." + name), title: `${t("runs.zoom." + name)} (${key})`, "aria-keyshortcuts": key, onclick: () => show(to()) }, name === "fit" ? t("runs.zoom.fit") : sign)));
  bar.hidden = false;
  tree.addEventListener("keydown", (event) => {
    const way = ways.find(([, , key]) => key === event.key || (key === "+" && event.key === "="));
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(way[3]());
  });
  tree.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); show(size * (event.deltaY < 0 ? 1.1 : 0.9), { x: event.clientX, y: event.clientY }); } }, { passive: false });
  // two fingers
  let last = null;
  const fingers = ({ touches: [a, b] }) => ({ x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1 });
  const touched = (event) => {
    if (event.touches.length !== 2) { last = null; return; }
    event.preventDefault();
    const now = fingers(event);
    if (last) show(size * now.apart / last.apart, now, last);
    last = now;
  };
  for (const kind of ["touchstart", "touchmove"]) tree.addEventListener(kind, touched, { passive: false });
  tree.addEventListener("touchend", () => { last = null; });
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

// A question in progress: the page is reloaded when there are new events, unless the reader has gone back to an earlier
// part.
const watched = document.getElementById("watch");
if (watched) {
  for (let wait = 2000; ; wait = Math.min(wait * 1.2, 30000)) {
    await pause(wait);
    try { if (String((await ask(watched.dataset.state)).changed) !== watched.dataset.changed) { location.reload(); break; } } catch { /* tried again */ }
  }
}

// A benchmark run in progress: figures and items are replaced with current ones.
const live = document.getElementById("live");
if (live) {
  const item = (row) => el("tr", {}, el("td", { class: "question", dir: "auto" }, row.cells[0].address ? el("a", { href: row.cells[0].address }, row.question) : row.question, " ", el("span", { class: "soft small" }, row.id)), ...row.cells.map(cell));
  const names = [...document.querySelectorAll("table.items thead th")].slice(1).map((th) => th.textContent);
  const cell = (c, i) => el("td", { "data-label": names.length > 1 && names[i] }, c.address ? el("a", { href: c.address, class: `badge state-${c.state}` }, c.f1 ? `${c.word} ${c.f1}` : c.word) : c.word,
    c.address && el("span", { class: "soft small" }, ` ${[c.class, t("runs.stepcount", { count: c.steps }), c.usd].filter(Boolean).join(" · ")}`));
  const figures = (of, _, all) => el("div", { class: "of" }, all.length > 1 && el("h2", {}, of.name),
    el("dl", { class: "figures" }, ...of.figures.map((f) => el("div", {}, el("dt", {}, f.label), el("dd", {}, f.value)))));
  for (let on = true; on;) {
    await pause(1500);
    try {
      const state = await ask(live.dataset.state);
      on = state.live;
      const bar = document.getElementById("progress");
      if (bar) { bar.max = state.items; bar.value = state.done; }
      document.getElementById("figures").replaceChildren(...state.figures.map(figures));
      const items = document.getElementById("items");
      if (!items.contains(document.activeElement)) items.replaceChildren(...state.rows.map(item));
      document.getElementById("total").textContent = t("runs.items", { count: state.total });
    } catch { /* tried again */ }
  }
  location.reload();
}
