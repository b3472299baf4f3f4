// Shows replies as they arrive: asks for the page's newest revision every few seconds, and reloads unless somebody is writing.
(function () {
  "use strict";
  var body = document.querySelector(".wikitext"), newer = document.getElementById("newer");
  var shown = Number(body.dataset.revid);

  function writing() {
    return Array.from(document.querySelectorAll("textarea, input[name=heading]")).some(function (e) { return e.value !== ""; }) ||
      document.querySelector("details.reply[open], details.steps[open]") !== null;
  }

  function look() {
    fetch(location.pathname + "?action=revid", { cache: "no-store" }).then(function (r) { return r.json(); }).then(function (a) {
      if (a.revid === shown) { return; }
      if (writing()) { newer.hidden = false; } else { location.reload(); }
    }).catch(function () { /* the wiki is away: the next look will tell */ });
  }
  setInterval(look, 3000);

  document.addEventListener("toggle", function (e) {
    if (e.target.matches("details.reply[open]")) { e.target.querySelector("textarea").focus(); }
  }, true);
})();
