// What the pages of runs do with a script: pictures of trees grow and shrink, and a run at work is watched.
import { ask, el, t } from "../layout/page.js";

const picture = document.querySelector(".tree > svg");
const zoom = document.getElementById("zoom");
if (picture && zoom) {
  let size = 100;
  const show = (to) => { size = Math.min(400, Math.max(50, to)); picture.style.inlineSize = `${size}%`; picture.style.minInlineSize = size < 100 ? "0" : ""; };
  const button = (text, label, by) => el("button", { type: "button", class: "compact", "aria-label": label, onclick: () => show(by ? size * by : 100) }, text);
  zoom.append(button("−", t("runs.zoom.out"), 0.8), button(t("runs.zoom.fit"), t("runs.zoom.fit"), 0), button("+", t("runs.zoom.in"), 1.25));
  zoom.hidden = false;
  picture.parentElement.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); show(size * (event.deltaY < 0 ? 1.1 : 0.9)); } }, { passive: false });
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

// A question at work: the page is loaded again when there is more, unless its reader has gone back to an earlier part.
const watched = document.getElementById("watch");
if (watched) {
  for (let wait = 2000; ; wait = Math.min(wait * 1.2, 30000)) {
    await pause(wait);
    try { if (String((await ask(watched.dataset.state)).changed) !== watched.dataset.changed) { location.reload(); break; } } catch { /* tried again */ }
  }
}

// A benchmark run at work: figures and items are put in place of those before.
const live = document.getElementById("live");
if (live) {
  const item = (row) => el("tr", {}, el("td", { class: "question", dir: "auto" }, `${row.question} `, el("span", { class: "soft small" }, row.id)), ...row.cells.map(cell));
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
