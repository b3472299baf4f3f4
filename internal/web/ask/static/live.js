// A question in progress: events arrive one by one, each with its number. After losing the connection, the
// browser requests those after the last one, and no number is shown twice.
import { el, t } from "../layout/page.js";

const page = document.getElementById("asked");
const list = document.getElementById("steps");
const live = document.getElementById("live");
const status = document.getElementById("status-text");
let last = Number(page.dataset.after);

function say(key, values) { status.textContent = t(key, values); }

// lines returns an argument as people read it: the members of a native call, one per line.
function lines(argument) {
  try {
    const members = JSON.parse(argument);
    if (members && typeof members === "object" && !Array.isArray(members)) {
      return Object.keys(members).sort().filter((k) => members[k] !== null).map((k) => `\n  ${k}: ${typeof members[k] === "string" ? members[k] : JSON.stringify(members[k])}`).join("");
    }
  } catch { /* a text */ }
  return `(${argument})`;
}

const shows = {
  step(e) {
    list.append(el("li", { class: "step", "data-n": e.n },
      el("h3", {}, el("span", { class: "soft" }, String(e.step)), " ", el("span", { dir: "auto" }, e.thought ?? "")),
      el("pre", { class: "action", tabindex: 0 }, el("b", {}, e.action ?? ""), lines(e.argument ?? "")),
      e.observation && el("details", { open: true }, el("summary", {}, t("ask.step.seen")), el("pre", { class: "seen", tabindex: 0, dir: "auto" }, e.observation))));
    say("ask.stepdone", { count: e.step });
  },
  review(e) { list.append(el("li", { class: "aside soft small", "data-n": e.n }, t("ask.event." + e.verdict, { count: e.step ?? 0 }))); },
  final() { say("ask.writing"); },
  start(e) { say("ask.begun", { how: e.text ?? "" }); },
  end() { source.close(); location.reload(); },
};
shows.probe = (e) => list.append(el("li", { class: "aside soft small", "data-n": e.n }, el("details", {}, el("summary", {}, t("ask.event.probe")), el("pre", { class: "seen", tabindex: 0, dir: "auto" }, e.text))));
for (const kind of ["rollback", "feedback", "try", "vote"]) {
  shows[kind] = (e) => list.append(el("li", { class: "aside soft small", "data-n": e.n }, t("ask.event." + kind), " ", e.text && el("span", { dir: "auto" }, e.text), e.action && el("code", {}, e.action)));
}

// The page may be older than the run: events that happened meanwhile come first.
const source = new EventSource(`/a/${page.dataset.id}/events?after=${last}`);
for (const [kind, show] of Object.entries(shows)) {
  source.addEventListener(kind, (message) => {
    const e = JSON.parse(message.data);
    if (e.n <= last) return;
    last = e.n;
    live.hidden = true;
    show(e);
  });
}
source.addEventListener("live", (message) => {
  live.textContent = JSON.parse(message.data).text;
  live.hidden = false;
  live.scrollTop = live.scrollHeight;
});

// A turn that waits for the reader's decision. If it is already shown, perhaps half edited, it stays as it is.
const turn = document.getElementById("turn");
const spinner = document.querySelector("#status .spinner");
function note(part, text) {
  const p = document.getElementById("turn-" + part);
  p.hidden = !text;
  p.lastElementChild.textContent = text ?? "";
}
source.addEventListener("turn", (message) => {
  const e = JSON.parse(message.data);
  if (!turn || turn.dataset.turn === String(e.n)) return;
  turn.dataset.turn = e.n;
  live.hidden = true;
  document.getElementById("turn-title").textContent = t("ask.review.yours", { count: e.place });
  say("ask.review.yours", { count: e.place });
  spinner.hidden = true;
  note("problem", e.problem);
  note("unreadable", e.unreadable);
  note("unseen", e.unseen?.join(", "));
  document.getElementById("turn-tell").hidden = !e.unreadable;
  for (const field of turn.querySelectorAll("[name=turn]")) field.value = e.n;
  turn.querySelector("[name=text]").value = e.turn;
  turn.querySelector("[name=reason]").value = "";
  turn.querySelector("[name=to]").replaceChildren(...e.back.map((s, i) => el("option", { value: i + 1, selected: i === e.back.length - 1 }, `${i + 1} · ${s}`)));
  document.getElementById("turn-back").hidden = e.back.length === 0;
  turn.querySelector("details").open = false;
  turn.hidden = false;
  turn.querySelector("[value=edited]").focus({ preventScroll: true });
  turn.scrollIntoView({ block: "nearest" });
});
turn?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(event.target, event.submitter));
  turn.hidden = true;
  spinner.hidden = false;
  say("ask.working");
  try {
    const answer = await fetch(event.target.action, { method: "POST", body, redirect: "manual" });
    if (answer.type !== "opaqueredirect") location.reload();
  } catch {
    turn.hidden = false;
    say("ask.lost");
  }
});
turn?.querySelector("[name=text]").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit(event.target.form.querySelector("[value=edited]"));
});

source.addEventListener("interrupted", () => { source.close(); location.reload(); });
source.addEventListener("open", () => page.setAttribute("data-connected", ""));
source.addEventListener("error", () => {
  page.removeAttribute("data-connected");
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 2000);
  else say("ask.lost");
});

// Stops without leaving the page; the last event reloads it.
document.querySelector("#state form").addEventListener("submit", (event) => {
  event.preventDefault();
  say("ask.stopping");
  fetch(event.target.action, { method: "POST", redirect: "manual" });
});
