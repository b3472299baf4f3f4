// Shows replies as they arrive: asks for the page's newest revision every few seconds, and reloads unless the visitor is writing. After a post it says
// what the bot is doing, below the visitor's comment.
(function () {
  "use strict";
  var body = document.querySelector(".wikitext"), newer = document.getElementById("newer");
  var shown = Number(body.dataset.revid);
  var longest = 10 * 60 * 1000; // how long a post is waited for, in milliseconds

  // Storage may be forbidden; then there is no progress, and nothing else is lost.
  function remember(time) { try { sessionStorage.setItem("posted", time); } catch (e) { /* see above */ } }
  function postedAt() { try { return Number(sessionStorage.getItem("posted")) || 0; } catch (e) { return 0; } }

  // waiting returns the place of the visitor's comment while no bot has answered below it.
  function waiting() {
    var mine = /^#c-/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!mine || Date.now() - postedAt() > longest) { return null; }
    var answered = Array.from(mine.closest("section.thread").querySelectorAll(".sig.bot")).some(function (e) {
      return mine.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING;
    });
    return answered ? null : mine;
  }
  var mine = waiting(), note = null;
  if (mine) {
    note = document.createElement("p");
    note.className = "working";
    note.setAttribute("role", "status");
    mine.insertAdjacentElement("afterend", note);
    tell("");
  }

  function tell(status) {
    if (!note) { return; }
    if (Date.now() - postedAt() > longest) { note.remove(); note = null; return; }
    note.textContent = (status || "Waiting for the bot") + " … " + Math.round((Date.now() - postedAt()) / 1000) + " s";
  }

  function writing() {
    return Array.from(document.querySelectorAll("textarea, input[name=heading]")).some(function (e) { return e.value !== ""; }) ||
      document.querySelector("details.reply[open], details.steps[open]") !== null;
  }

  function look() {
    fetch(location.pathname + "?action=revid", { cache: "no-store" }).then(function (r) { return r.json(); }).then(function (a) {
      tell(a.status);
      if (a.revid === shown) { return; }
      if (writing()) { newer.hidden = false; } else { location.reload(); }
    }).catch(function () { /* the wiki does not answer: try again at the next look */ });
  }
  setInterval(look, mine ? 1000 : 3000);

  document.addEventListener("submit", function (e) {
    if (e.target.method === "post") { remember(Date.now()); }
  });
  document.addEventListener("toggle", function (e) {
    if (e.target.matches("details.reply[open]")) { e.target.querySelector("textarea").focus(); }
  }, true);
  var failed = document.querySelector(".error");
  if (failed) { failed.scrollIntoView({ block: "center" }); }
})();
