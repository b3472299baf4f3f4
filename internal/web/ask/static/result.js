// The views of a result other than the table: each is a module that is loaded on request.
import { ask, el, t } from "../layout/page.js";

document.documentElement.classList.add("scripted");
const most = 10000;
const holder = document.getElementById("views");
const table = document.getElementById("table-view");
const other = document.getElementById("other-view");
let rows = null, latest = 0;

async function show(view) {
  for (const tab of holder.querySelectorAll("[role=tab]")) {
    const on = tab.dataset.view === view;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
  }
  table.hidden = view !== "table";
  other.hidden = view === "table";
  const mine = ++latest; // a view that was chosen in the meantime is shown instead
  if (view === "table") return;
  other.setAttribute("aria-labelledby", "tab-" + view);
  other.replaceChildren(el("p", { class: "empty" }, el("span", { class: "spinner", "aria-hidden": "true" })));
  other.removeAttribute("data-shown");
  try {
    rows ??= Object.assign(await ask(`${holder.dataset.base}/rows?limit=${most}`), { base: holder.dataset.base, kind: holder.dataset.kind, layer: holder.dataset.layer, hide: (holder.dataset.hide ?? "").split(" ") });
    const module = await import(`./${view}.js`);
    if (mine !== latest) return;
    other.replaceChildren();
    if (rows.rows.length < rows.total) other.append(el("p", { class: "note small" }, t("ask.view.part", { count: rows.rows.length })));
    const place = other.appendChild(el("div"));
    await module.show(place, rows);
    if (mine === latest) other.setAttribute("data-shown", view);
  } catch (problem) {
    other.replaceChildren(el("p", { class: "note bad" }, t("ask.view.failed", { why: problem.message })));
  }
}

const views = holder ? holder.dataset.views.split(" ") : [];
if (views.length > 1) {
  holder.classList.add("tabs");
  holder.setAttribute("role", "tablist");
  holder.setAttribute("aria-label", t("ask.views"));
  for (const view of views) {
    holder.append(el("button", { role: "tab", type: "button", id: "tab-" + view, "data-view": view, "aria-controls": view === "table" ? "table-view" : "other-view", onclick: () => show(view) }, t("ask.view." + view)));
  }
  holder.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...holder.children];
    const way = document.documentElement.dir === "rtl" ? -step : step;
    const to = tabs[(tabs.indexOf(document.activeElement) + way + tabs.length) % tabs.length];
    to.focus();
    show(to.dataset.view);
  });
  table.setAttribute("role", "tabpanel");
  table.setAttribute("aria-labelledby", "tab-table");
  other.setAttribute("role", "tabpanel");
  show(holder.dataset.view);
}
