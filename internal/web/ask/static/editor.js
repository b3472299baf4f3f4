// The query editor: colors, completion, names of the query's IDs, mistakes at their positions. The buttons belong to
// the form and work without this script.
import { ask, el, t } from "../layout/page.js";

document.documentElement.classList.add("scripted");
const source = document.getElementById("source");
const colors = document.getElementById("colors");
const marks = document.getElementById("marks");
const list = document.getElementById("completions");
const tip = document.getElementById("tip");
const nameLine = document.getElementById("name");
const graph = document.getElementById("graph");
let names = {}, found = [], items = [], chosen = 0, replaced = 0, asked = 0;

const token = /(#[^\n]*)|("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(<[^<>"{}|^`\s]*>|[A-Za-z][\w-]*:[\w-]*)|([?$]\w+)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]+)/g;
const kinds = [null, "comment", "string", "iri", "variable", "number", "keyword"];

// paint writes the text in colors below the field, with the mistakes underlined.
function paint() {
  const text = source.value, pieces = [];
  const wrong = found.map((m) => ({ at: place(m.line, m.column), wrong: m.wrong }));
  const put = (from, to, kind) => {
    if (from === to) return;
    const bad = wrong.find((w) => w.at >= from && w.at < to);
    const classes = [kind && "tok-" + kind, bad && (bad.wrong ? "wrong" : "unsure")].filter(Boolean).join(" ");
    pieces.push(classes ? el("span", { class: classes }, text.slice(from, to)) : text.slice(from, to));
  };
  let last = 0;
  for (const m of text.matchAll(token)) {
    put(last, m.index, null);
    put(m.index, m.index + m[0].length, kinds[m.findIndex((g, i) => i > 0 && g !== undefined)]);
    last = m.index + m[0].length;
  }
  put(last, text.length, null);
  colors.replaceChildren(...pieces, "\n");
  scroll();
}

function scroll() { colors.scrollTop = source.scrollTop; colors.scrollLeft = source.scrollLeft; }

// place returns the offset of a line and column, both counted from 1; columns count characters.
function place(line, column) {
  const lines = source.value.split("\n");
  let at = 0;
  for (let i = 0; i < line - 1 && i < lines.length; i++) at += lines[i].length + 1;
  return Math.min(source.value.length, at + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length);
}

let waiting = 0;
function changed() {
  found = [];
  paint();
  clearTimeout(waiting);
  waiting = setTimeout(remarks, 400);
}

async function remarks() {
  if (!source.value.trim()) { marks.replaceChildren(); return; }
  const text = source.value;
  let said;
  try { said = await ask("/editor/check", { query: text, graph: graph.value }); } catch { return; }
  if (text !== source.value) return;
  names = said.names;
  found = said.marks;
  marks.replaceChildren(...found.map((m) => el("li", { class: "note " + (m.wrong ? "bad" : "wait") },
    el("button", { type: "button", class: "compact", onclick: () => { const at = place(m.line, m.column); source.focus(); source.setSelectionRange(at, at); } }, t("editor.place", { line: m.line, column: m.column })), " ",
    el("span", { lang: "en" }, m.message, m.hint ? ` (${m.hint})` : ""), m.instead && " ",
    m.instead && el("button", { type: "button", class: "compact", onclick: () => correct(m) }, t("editor.instead", { word: m.instead })))));
  marks.setAttribute("data-checked", "");
  paint();
}

// correct replaces what is misspelled with what was probably meant.
function correct(m) {
  const from = place(m.line, m.column);
  const to = from + [...source.value.slice(from)].slice(0, m.length).join("").length;
  source.focus();
  source.setRangeText(m.instead, from, to, "end");
  changed();
}

// word returns the ID at an offset.
function word(at) {
  const text = source.value;
  for (const m of text.matchAll(/\b[QPL][1-9]\d*\b/g)) if (at >= m.index && at <= m.index + m[0].length) return m[0];
  return "";
}

function metrics() {
  const probe = el("span", {}, "0".repeat(100));
  colors.append(probe);
  const style = getComputedStyle(source), wide = probe.getBoundingClientRect().width / 100;
  probe.remove();
  return { wide, high: parseFloat(style.lineHeight), left: parseFloat(style.paddingLeft), top: parseFloat(style.paddingTop) };
}

source.addEventListener("mousemove", (event) => {
  const m = metrics(), box = source.getBoundingClientRect();
  const line = Math.floor((event.clientY - box.top - m.top + source.scrollTop) / m.high) + 1;
  const column = Math.floor((event.clientX - box.left - m.left + source.scrollLeft) / m.wide) + 1;
  const length = source.value.split("\n")[line - 1]?.length ?? 0;
  const id = column >= 1 && column <= length ? word(place(line, column)) : "";
  tip.hidden = !names[id];
  if (!names[id]) return;
  tip.textContent = `${id}: ${names[id]}`;
  tip.style.left = Math.min(event.clientX + 12, innerWidth - 260) + "px";
  tip.style.top = event.clientY + 18 + "px";
});
source.addEventListener("mouseleave", () => { tip.hidden = true; });
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== source) return;
  const id = word(source.selectionStart);
  nameLine.textContent = names[id] ? `${id}: ${names[id]}` : "";
});

// Completion
async function complete() {
  const at = source.selectionStart, mine = ++asked;
  const before = source.value.slice(0, at);
  let said;
  try { said = await ask("/editor/complete", { query: source.value, before, graph: graph.value }); } catch { return close(); }
  if (mine !== asked || source.selectionStart !== at) return;
  items = said.items;
  replaced = [...before].slice(-said.from || before.length).join("").length;
  if (said.from === 0) replaced = 0;
  chosen = 0;
  if (!items.length) return close();
  const m = metrics(), lines = before.split("\n");
  list.hidden = false; // while hidden, it has no width
  list.style.left = Math.max(0, Math.min(m.left + lines[lines.length - 1].length * m.wide - source.scrollLeft, source.clientWidth - list.offsetWidth)) + "px";
  list.style.top = m.top + lines.length * m.high - source.scrollTop + 4 + "px";
  source.setAttribute("aria-controls", "completions");
  show();
}

function show() {
  list.replaceChildren(...items.map((item, i) => el("li", { role: "option", id: "completion-" + i, "aria-selected": String(i === chosen), onmousedown: (event) => { event.preventDefault(); chosen = i; accept(); } }, item.label, item.detail && el("span", { dir: "auto" }, item.detail))));
  source.setAttribute("aria-activedescendant", "completion-" + chosen);
  list.children[chosen].scrollIntoView({ block: "nearest" });
}

function close() { list.hidden = true; items = []; asked++; source.removeAttribute("aria-activedescendant"); }

function accept() {
  const to = source.selectionStart;
  source.setRangeText(items[chosen].insert, to - replaced, to, "end");
  close();
  changed();
}

source.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); document.getElementById("run").click(); return; }
  if (event.key === " " && event.ctrlKey) { event.preventDefault(); complete(); return; }
  if (list.hidden) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); chosen = (chosen + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length; show(); }
  else if (event.key === "Enter" || event.key === "Tab") { event.preventDefault(); accept(); }
  else if (event.key === "Escape") { event.preventDefault(); close(); }
});

let typing = 0;
source.addEventListener("input", () => {
  changed();
  clearTimeout(typing);
  const before = source.value.slice(0, source.selectionStart);
  if (/[?$]\w*$|\w:[\p{L}\p{N}_'-]+$|(^|[\s(){}])\p{L}{2,}$/u.test(before)) typing = setTimeout(complete, 150);
  else close();
});
source.addEventListener("scroll", scroll);
source.addEventListener("blur", close);
graph.addEventListener("change", changed);
paint();
remarks();
