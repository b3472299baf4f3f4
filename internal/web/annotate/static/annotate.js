// The script of all pages. It does what cannot be done on the server: highlighting while typing, saving, keys. Text
// from outside is set with textContent only.
import { el, number, t } from "../layout/page.js";

const said = (key, values) => t("annotate.js." + key, values);
const $ = (s, root = document) => root.querySelector(s);
const $$ = (s, root = document) => [...root.querySelectorAll(s)];
const { page, base } = $(".annotate").dataset; // base is the prefix of addresses if the page is part of a server
const data = $("#data") ? JSON.parse($("#data").textContent) : null;

/* ---- Messages ---- */
let toastTimer;
function toast(text, good = false) {
  const box = $("#toast");
  box.textContent = text;
  box.classList.toggle("good", good);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.textContent = ""; }, good ? 2500 : 9000);
}
function status(text, kind = "") {
  const s = $("#status");
  const was = s.className;
  if (s.textContent !== text) s.textContent = text;
  s.className = "status " + kind;
  // Screen readers announce errors and when they are over, but not every save.
  if (kind === "bad") say(text, 0); else if (kind === "ok" && (was.includes("bad") || !$("#said").textContent)) say(said("saved"), 0);
}
let sayTimer;
function say(text, after) { clearTimeout(sayTimer); sayTimer = setTimeout(() => { if ($("#said").textContent !== text) $("#said").textContent = text; }, after); }

/* ---- Talking to the server ---- */
class Refused extends Error { constructor(code, body) { super(body.error || said("refused", { code })); this.code = code; this.body = body; } }
async function post(name, body, opts = {}) {
  const r = await fetch(base + "/api/" + name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), ...opts });
  const answer = await r.json().catch(() => ({}));
  if (!r.ok) throw new Refused(r.status, answer);
  return answer;
}

/* ---- Highlighting: the parts of a query by kind; other text stays plain ---- */
const part = /(#[^\n]*)|("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(<[^<>"{}|^`\\\s]*>)|([?$][\p{L}\p{N}_]+)|([\p{L}][\p{L}\p{N}_.-]*:[\p{L}\p{N}_][\p{L}\p{N}_-]*|[\p{L}][\p{L}\p{N}_-]*:|:[\p{L}\p{N}_]+)|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([a-zA-Z][a-zA-Z_]*)/gu;
const kinds = ["", "c", "s", "u", "v", "n", "m", "k"];
const idOf = (text) => (/(?:^|[:/])([QPL][1-9]\d*)>?$/.exec(text) || [])[1];
function highlight(target, text, marks = []) {
  const out = [], starts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  const places = marks.map((m) => ({ at: (starts[m.line - 1] ?? text.length) + m.column - 1, error: m.kind === "error" }));
  const piece = (s, from, kind) => {
    const mark = places.find((p) => p.at >= from && p.at < from + s.length);
    const id = kind === "n" || kind === "u" ? idOf(s) : null;
    if (!kind && !mark) { out.push(s); return; }
    const span = el("span", { class: (kind ? "hl-" + kind : "") + (mark ? (mark.error ? " mark-error" : " mark-warn") : "") }, s);
    if (id) span.dataset.id = id;
    out.push(span);
  };
  let last = 0;
  for (const m of text.matchAll(part)) {
    if (m.index > last) piece(text.slice(last, m.index), last, "");
    piece(m[0], m.index, kinds[m.findIndex((g, i) => i > 0 && g !== undefined)]);
    last = m.index + m[0].length;
  }
  if (last < text.length) piece(text.slice(last), last, "");
  target.replaceChildren(...out, "\n");
}

/* ---- Names of IDs: a tooltip under the pointer and under the focus ---- */
let names = {};
function nameOf(id) { const n = names[id]; return n ? [id + " · " + n.label, n.description || ""] : null; }
function showTip(text, x, y) {
  const tip = $("#tip");
  if (!text) { tip.hidden = true; return; }
  tip.replaceChildren(el("b", {}, text[0]), text[1]);
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(x + 10, innerWidth - w - 8)) + "px";
  tip.style.top = (y + 18 + h > innerHeight ? y - h - 10 : y + 18) + "px";
}
document.addEventListener("mousemove", (e) => {
  const under = document.elementsFromPoint(e.clientX, e.clientY).find((n) => n.dataset && n.dataset.id);
  showTip(under && nameOf(under.dataset.id), e.clientX, e.clientY);
});
document.addEventListener("focusin", (e) => {
  if (!e.target.dataset || !e.target.dataset.id) { showTip(null); return; }
  const r = e.target.getBoundingClientRect();
  showTip(nameOf(e.target.dataset.id), r.left, r.bottom - 12);
});

/* ---- Tabs (WAI-ARIA: arrows move, one stop for Tab) ---- */
function selectTab(tab, focus = false) {
  for (const other of $$("[role=tab]", tab.parentElement)) {
    const on = other === tab;
    other.setAttribute("aria-selected", on);
    other.tabIndex = on ? 0 : -1;
    $("#" + other.getAttribute("aria-controls")).hidden = !on;
  }
  if (focus) tab.focus();
}
for (const list of $$("[role=tablist]")) {
  const tabs = $$("[role=tab]", list);
  list.addEventListener("click", (e) => { const tab = e.target.closest("[role=tab]"); if (tab) selectTab(tab); });
  list.addEventListener("keydown", (e) => {
    const i = tabs.indexOf(document.activeElement), n = tabs.length;
    const to = { ArrowRight: (i + 1) % n, ArrowLeft: (i + n - 1) % n, Home: 0, End: n - 1 }[e.key];
    if (i >= 0 && to !== undefined) { e.preventDefault(); selectTab(tabs[to], true); }
  });
}
const openTab = (id) => { const tab = $("#" + id); if (tab) selectTab(tab); };

/* ---- Keys ---- */
const keys = []; // {key, what, do, anywhere}
const key = (k, what, fn, anywhere = false) => keys.push({ key: k, what, do: fn, anywhere });
const singleKeys = () => { try { return localStorage.getItem("single-keys") !== "off"; } catch { return true; } };
const typing = (n) => n && (n.matches("textarea, select, input:not([type=checkbox]):not([type=radio])") || n.isContentEditable);
document.addEventListener("keydown", (e) => {
  if (e.isComposing || $("dialog[open]")) return;
  if (e.key === "Escape" && typing(e.target)) { e.target.blur(); return; }
  const name = (e.ctrlKey || e.metaKey ? "Ctrl+" : "") + e.key;
  if (e.altKey) return;
  const k = keys.find((k) => k.key === name);
  if (!k || (typing(e.target) && !k.anywhere) || (!k.anywhere && k.key.length === 1 && !singleKeys())) return;
  e.preventDefault();
  k.do();
});
function openHelp() {
  $("#keys").replaceChildren(...keys.filter((k) => k.what).map((k) => el("div", {}, el("kbd", {}, k.key), el("span", {}, k.what))));
  $("#single-keys").checked = singleKeys();
  $("#help").showModal();
}
const go = (url) => { if (url) location.assign(url); };
const link = (sel) => go($(sel) && $(sel).href);
$("#single-keys").addEventListener("change", (e) => localStorage.setItem("single-keys", e.target.checked ? "on" : "off"));
if ($("#help-button")) $("#help-button").addEventListener("click", openHelp);

/* ---- The queue and the other lists ---- */
if (page === "queue" || page === "agreement") {
  const rows = $$("a.row-link");
  const move = (d) => {
    const i = rows.indexOf(document.activeElement);
    const to = rows[Math.max(0, Math.min(rows.length - 1, i < 0 ? (d > 0 ? 0 : rows.length - 1) : i + d))];
    if (to) { to.focus(); to.closest("tr, li").scrollIntoView({ block: "nearest" }); }
  };
  key("j", said("key.next_row"), () => move(1));
  key("k", said("key.row_before"), () => move(-1));
  key("Enter", said("key.open_row"), () => { const a = document.activeElement; if (a && a.matches("a, button, summary")) a.click(); else if (rows[0]) rows[0].click(); });
  if (page === "queue") {
    key("/", said("key.search"), () => { $("#search").focus(); $("#search").select(); });
    $$(".boxes a").forEach((a, i) => key(String(i + 1), said("key.box", { name: a.firstElementChild.textContent }), () => go(a.href)));
    for (const s of $$(".filters select")) s.addEventListener("change", () => s.form.requestSubmit());
  }
  key("u", said("key.undo"), undo);
}
if (page === "history") {
  for (const b of $$("[data-restore]")) b.addEventListener("click", () => post("restore", { candidate: data.candidate, event: +b.dataset.restore }).then((a) => go(a.next), (e) => toast(e.message)));
  key("h", said("key.back"), () => link("#back"));
}
async function undo() {
  try { if (editor) await editor.flush(); go((await post("undo", {})).next); } catch (e) { toast(e instanceof TypeError ? said("away") : e.message); }
}

/* ---- Editing a work ---- */
let editor = null;
function startEditor() {
  const fields = { query: $("#query"), question: $("#question"), note: $("#note") };
  const store = "draft:" + data.candidate + ":" + (data.resolution ? "" : data.who);
  const now = () => ({ query: fields.query.value, question: fields.question.value, note: fields.note.value });
  const equal = (a, b) => a.query === b.query && a.question === b.question && a.note === b.note;
  let version = data.version, saved = { query: data.query, question: data.question, note: data.note }, verdict = data.verdict, reason = data.reason;
  let timer, unsavedSince = 0, openBefore = -1, checkTimer, queue = Promise.resolve(), stuck = false, marks = [];
  const body = (more = {}) => ({ candidate: data.candidate, resolution: data.resolution, version, filter: data.filter, ...now(), ...more });
  const remember = () => { try { localStorage.setItem(store, JSON.stringify({ version, at: Date.now(), ...now() })); } catch { status(said("no_copy"), "bad"); } };
  const forget = () => { try { localStorage.removeItem(store); } catch { /* nothing was kept */ } };
  const clock = (d = new Date()) => d.toTimeString().slice(0, 8);

  function took(work) {
    version = work.version;
    if (work.verdict !== verdict && !data.resolution) showVerdict(work.verdict);
  }
  function showVerdict(v) {
    verdict = v || "";
    const box = $("#verdict");
    box.replaceChildren(...(verdict ? [el("span", { class: "badge " + verdict }, said("verdict." + verdict))] : []));
    if ($("#confirm-what")) $("#confirm-what").textContent = verdict ? " " + said("as", { verdict: said("verdict." + verdict) }) : "";
  }
  // save sends the text as it is when its turn comes; saves are sent one after the other.
  function save(opts) {
    clearTimeout(timer);
    unsavedSince = 0;
    queue = queue.then(async () => {
      const sent = now();
      if (equal(sent, saved) || stuck) return;
      status(said("saving"));
      try {
        const a = await post("save", { ...body(), ...sent }, opts);
        saved = sent;
        took(a.work);
        if (a.withdrawn) toast(said("withdrawn"));
        if (equal(now(), saved)) { forget(); status(said("saved_at", { time: clock() }), "ok"); } else later();
      } catch (e) { failed(e); }
    });
    return queue;
  }
  function failed(e) {
    if (e instanceof Refused && e.code === 409) return conflict(e.body.current);
    if (e instanceof Refused && e.code !== 500) { status(said("not_saved"), "bad"); toast(e.message); return; }
    status(said("not_saved_kept", { why: e instanceof Refused ? e.message : said("no_answer") }), "bad");
    clearTimeout(timer);
    timer = setTimeout(save, 1500);
  }
  // later saves half a second after the last keystroke, and every two seconds while someone keeps typing.
  function later() {
    clearTimeout(timer);
    unsavedSince ||= Date.now();
    timer = setTimeout(save, Math.max(0, Math.min(500, unsavedSince + 2000 - Date.now())));
  }
  const flush = async () => { await save(); if (!equal(now(), saved)) throw new Error(said(stuck ? "choose" : "unsaved_away")); };

  function banner(text, choices, shown) {
    const b = $("#banner");
    b.replaceChildren(el("span", {}, text), ...choices.map(([name, fn]) => el("button", { type: "button", onclick: () => { b.hidden = true; fn(); } }, name)));
    if (shown) b.append(el("pre", { tabindex: 0 }, shown));
    b.hidden = false;
    $("button", b).focus();
  }
  const both = (w) => (w.question ? w.question + "\n\n" : "") + w.query;
  function conflict(current) {
    stuck = true;
    status(said("elsewhere"), "bad");
    banner(said("two_texts"), [
      [said("mine"), () => { stuck = false; version = current.version; save(); }],
      [said("other"), async () => { stuck = false; version = current.version; await save(); put(current); await save(); }],
    ], both(current));
  }
  function put(w) { for (const f of ["query", "question", "note"]) fields[f].value = w[f] || ""; changed(); }
  // replace keeps the browser's own undo (Ctrl+Z) working. Only the differing part is inserted: insertText takes
  // minutes for tens of thousands of characters.
  function replace(field, text) {
    const was = field.value, most = Math.min(was.length, text.length);
    let from = 0, tail = 0;
    while (from < most && was[from] === text[from]) from++;
    while (tail < most - from && was[was.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
    const piece = text.slice(from, text.length - tail);
    field.focus();
    field.setSelectionRange(from, was.length - tail);
    if (piece.length > 4000 || !document.execCommand(piece ? "insertText" : "delete", false, piece)) field.setRangeText(piece, from, was.length - tail, "end");
    if (field.value !== text) field.value = text;
    changed();
  }

  function paint() {
    highlight($("#highlight"), fields.query.value, marks);
    follow();
  }
  function follow() {
    $("#highlight").scrollTop = fields.query.scrollTop;
    $("#highlight").scrollLeft = fields.query.scrollLeft;
  }
  function changed() {
    paint();
    if (equal(now(), saved)) { forget(); status(version ? said("saved") : "", version ? "ok" : ""); } else { remember(); if (!stuck) { status(said("not_saved_yet")); later(); } }
    clearTimeout(checkTimer);
    checkTimer = setTimeout(check, 300);
  }
  async function check() {
    const sent = body();
    let a;
    try { a = await post("check", sent); } catch { return; } // the status line reports that the server is away
    if (fields.query.value !== sent.query || fields.question.value !== sent.question) return;
    if (a.pending) checkTimer = setTimeout(check, 1500);
    names = a.names;
    marks = a.marks;
    paint();
    here();
    $("#names").replaceChildren(...Object.entries(names).sort(([x], [y]) => x.localeCompare(y, "en", { numeric: true })).map(([id, n]) => {
      return el("a", { href: "https://www.wikidata.org/wiki/" + (id[0] === "P" ? "Property:" : "") + id, target: "_blank", rel: "noopener noreferrer", title: n.description || "", "data-id": id }, id + " ", el("b", {}, n.label));
    }));
    $("#marks").replaceChildren(...marks.map((m) => listed(m, m.message, m.kind === "error" ? "error" : "warn", m.hint)));
    $("#remarks").replaceChildren(...a.remarks.map((r) => listed(r, r.text, r.said ? "said" : "", "", r.piece)));
    const open = a.remarks.filter((r) => !r.said).length;
    if (open !== openBefore) { openBefore = open; say(said("open_checks", { count: open }), 2000); }
    if ($("#open-count")) { $("#open-count").textContent = open; $("#open-count").className = "count" + (open ? " open" : ""); $(".verdicts")?.classList.toggle("unready", open > 0); }
  }
  // listed makes a line that links to a position in the query.
  function listed(m, text, kind, hint, piece) {
    const unseen = kind === "said" ? el("span", { class: "unseen" }, said("said") + " ") : "";
    const b = m.line ? el("button", { type: "button" }, (m.line && !piece ? said("line", { n: m.line }) + " " : "") + text) : el("span", {}, unseen, text);
    if (hint) b.append(" ", el("small", {}, hint));
    if (piece) b.title = said("line_piece", { n: m.line, piece });
    if (m.line) b.addEventListener("click", () => { openTab("tab-edit"); jump(m.line, m.column); });
    return el("li", { class: kind }, b);
  }
  function jump(line, column) {
    const lines = fields.query.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + column - 1;
    fields.query.focus();
    fields.query.setSelectionRange(at, at);
    const range = document.createRange(), walk = document.createTreeWalker($("#highlight"), NodeFilter.SHOW_TEXT);
    let n = walk.nextNode(), before = 0;
    while (n && before + n.length < at) { before += n.length; n = walk.nextNode(); }
    if (!n) return;
    range.setStart(n, at - before);
    const place = range.getBoundingClientRect(), box = fields.query.getBoundingClientRect(); // lines may be wrapped
    if (place.top < box.top || place.bottom > box.bottom) fields.query.scrollTop += place.top - box.top - box.height / 3;
  }
  // here marks the ID at the cursor in the list of names.
  function here() {
    const text = fields.query.value, at = fields.query.selectionStart;
    const m = document.activeElement === fields.query && [...text.matchAll(/[QP][1-9]\d*/g)].find((m) => m.index <= at && at <= m.index + m[0].length);
    for (const c of $$("#names a")) c.classList.toggle("here", !!m && c.dataset.id === m[0]);
    const c = $("#names a.here");
    if (c) c.parentElement.scrollLeft = c.offsetLeft - c.parentElement.offsetLeft - 20;
  }

  let running = null;
  async function run() {
    if (running) running.abort();
    const mine = running = new AbortController();
    const box = $("#result"), note = $("#result-note");
    box.hidden = false;
    note.textContent = said("running");
    const started = Date.now();
    const tick = setInterval(() => { note.textContent = said("running_s", { n: Math.round((Date.now() - started) / 1000) }); }, 1000);
    try {
      const a = await post("run", body(), { signal: mine.signal });
      note.textContent = said("ran", { count: a.total, time: a.ms < 1000 ? number(a.ms) + " ms" : number(Math.round(a.ms / 100) / 10) + " s", endpoint: a.endpoint });
      table(box, a);
    } catch (e) {
      if (e.name === "AbortError") return;
      note.textContent = said("failed");
      box.replaceChildren(el("p", { class: "failure" }, e instanceof Refused ? e.message : said("away")));
    } finally { clearInterval(tick); if (running === mine) running = null; }
  }
  function table(box, a) {
    if (a.ask) { box.replaceChildren(el("p", { class: "boolean" }, String(a.boolean))); return; }
    const cell = (c) => {
      const td = el("td", { class: c.kind, dir: "auto" });
      if (c.url) td.append(el("a", { href: c.url, target: "_blank", rel: "noopener noreferrer", "data-id": c.id }, c.text)); else td.textContent = c.text;
      if (c.label) td.append(" ", el("span", { class: "name" }, c.label));
      return td;
    };
    box.replaceChildren(el("table", { class: "rows" }, el("thead", {}, el("tr", {}, ...a.head.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...(a.rows || []).map((r) => el("tr", {}, ...r.map(cell))))));
    if (a.total === 0) box.append(el("p", { class: "failure" }, said("no_rows")));
    if ((a.rows || []).length < a.total) box.append(el("p", { class: "more soft" }, said("first_rows", { n: a.rows.length, all: a.total })));
  }

  let deciding = false;
  async function decide(v, why = "") {
    if (deciding) return;
    deciding = true;
    try {
      await flush();
      const a = await post("decide", body({ verdict: v, reason: why }));
      forget();
      go(a.next); // and allow no second verdict in the meantime
    } catch (e) {
      deciding = false;
      if (e instanceof Refused && e.code === 409) conflict(e.body.current); else toast(e instanceof TypeError ? said("away_safe") : e.message);
    }
  }
  function exclude() {
    const d = $("#exclude");
    d.returnValue = "";
    $("#exclude-note").value = fields.note.value;
    d.showModal();
    const first = $("input[name=reason]:checked", d) || $("input[name=reason]", d);
    first.focus();
  }
  function startExclude() {
    const d = $("#exclude"), radios = $$("input[name=reason]", d);
    $$("[data-digit]", d).forEach((k) => { k.textContent = +k.dataset.digit + 1; });
    d.addEventListener("keydown", (e) => {
      if (e.target.id !== "exclude-note" && radios[e.key - 1]) { e.preventDefault(); radios[e.key - 1].checked = true; radios[e.key - 1].focus(); }
      if (e.key === "Enter" && e.target.matches("input")) { e.preventDefault(); $("#exclude-yes").click(); }
    });
    d.addEventListener("close", () => {
      const r = $("input[name=reason]:checked", d);
      if (d.returnValue !== "exclude") return;
      if (!r) { toast(said("say_why")); return; }
      fields.note.value = $("#exclude-note").value;
      changed();
      decide("exclude", r.value);
    });
  }
  const give = (v) => (v === "exclude" ? exclude() : decide(v));
  function take(i) {
    const w = data.works[i];
    if (!w) return;
    replace(fields.query, w.query);
    replace(fields.question, w.question || fields.question.value);
    document.activeElement.blur();
    reason = w.reason;
    showVerdict(w.verdict);
    toast(said("taken"), true);
  }
  function confirm() {
    if (!verdict) { toast(said("take_first")); return; }
    if (verdict === "exclude" && !reason) { exclude(); return; }
    decide(verdict, reason);
  }
  const blurAfter = (fn) => () => { fn(); if (document.activeElement) document.activeElement.blur(); };

  for (const f of Object.values(fields)) { f.addEventListener("input", changed); f.addEventListener("blur", () => save()); }
  fields.query.addEventListener("scroll", follow);
  for (const ev of ["keyup", "click", "focus", "blur"]) fields.query.addEventListener(ev, here);
  addEventListener("pagehide", () => { if (!equal(now(), saved)) { remember(); save({ keepalive: true }); } });
  addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
  $("#run").addEventListener("click", run);
  for (const b of $$("[data-verdict]")) b.addEventListener("click", () => give(b.dataset.verdict));
  for (const b of $$("[data-insert]")) b.addEventListener("click", () => replace(fields.question, data[b.dataset.insert]));
  for (const b of $$("[data-take]")) b.addEventListener("click", () => take(+b.dataset.take));
  for (const k of $$("[data-letter]")) k.textContent = "ab"[+k.dataset.letter];
  $("#undo").addEventListener("click", undo);
  const revert = blurAfter(() => { openTab("tab-edit"); replace(fields.query, data.cleaned); });
  const trim = blurAfter(() => { if (!data.trimmed) { toast(said("no_trim")); return; } openTab("tab-edit"); replace(fields.query, data.trimmed); });
  $("#revert").addEventListener("click", revert);
  if ($("#take-trimmed")) $("#take-trimmed").addEventListener("click", trim);
  if ($("#confirm")) $("#confirm").addEventListener("click", confirm);
  startExclude();

  key("e", said("key.edit"), () => { openTab("tab-edit"); fields.query.focus(); });
  key("w", said("key.write"), () => fields.question.focus());
  key("n", said("key.note"), () => fields.note.focus());
  key("r", said("key.run"), run);
  key("Ctrl+Enter", said("key.run_any"), run, true);
  key("o", said("key.original"), revert);
  if (data.trimmed) key("t", said("key.trim"), trim);
  if (data.precise) key("1", said("key.precise"), () => replace(fields.question, data.precise));
  if (data.natural) key("2", said("key.natural"), () => replace(fields.question, data.natural));
  if (!data.resolution) key("d", said("key.discussion"), () => $("#discussion").focus());
  if (data.works) { key("a", said("key.take", { letter: "A" }), () => take(0)); key("b", said("key.take", { letter: "B" }), () => take(1)); key("c", said("key.confirm"), confirm); }
  key("i", said("verdict.include"), () => give("include"));
  key("m", said("verdict.modify"), () => give("modify"));
  key("x", said("verdict.exclude"), () => give("exclude"));
  if (!data.resolution) { key("s", said("verdict.skip"), () => give("skip")); if (data.compare) key("c", said("key.compare"), () => go(data.compare)); }
  key("u", said("key.undo"), undo);
  key("j", said("key.next"), () => go(data.after || data.queue));
  key("k", said("key.previous"), () => go(data.before || data.queue));
  key("h", said("key.history"), () => link("#history-link"));
  key("Escape", said("key.leave"), () => {});

  if (data.resolution) showVerdict(verdict); else if (version) status(said("saved"), "ok");
  let draft = null;
  try { draft = JSON.parse(localStorage.getItem(store)); } catch { forget(); }
  // A browser that was killed may have kept only the beginning of the text that the server now has.
  const beginning = draft && draft.version < version && ["query", "question", "note"].every((f) => saved[f].startsWith(draft[f]));
  if (draft && !beginning && !equal(draft, saved)) {
    status(said("found"), "bad");
    banner(said(draft.version === version ? "draft" : "draft_other", { time: new Date(draft.at).toLocaleString(document.documentElement.lang) }), [
      [said("take_it"), () => { put(draft); save(); fields.question.focus(); }], [said("discard"), () => { forget(); status(said("discarded")); }]], both(draft));
  } else forget();
  paint();
  check();
  return { flush };
}
for (const pre of $$("pre.sparql")) highlight(pre, pre.textContent);
if (page === "item" || page === "compare") editor = startEditor();
if (page !== "queue") key("g", said("key.queue"), () => go(data && data.queue || base + "/"));
if (page !== "agreement") key("v", said("key.agreement"), () => go(base + "/agreement"));
key("?", said("key.help"), openHelp);
