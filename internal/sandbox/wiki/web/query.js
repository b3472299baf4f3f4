// Runs the query in the address's fragment at once, or the one in the box, and shows the result as a table.
(function () {
  "use strict";
  var form = document.getElementById("query"), box = form.elements.query, out = document.getElementById("result"), note = document.getElementById("status");

  function add(parent, tag, text) {
    var e = document.createElement(tag);
    if (text !== undefined) { e.textContent = text; }
    parent.appendChild(e);
    return e;
  }

  function cell(td, v) {
    if (!v) { return; }
    if (v.type === "uri" && /^https?:/.test(v.value)) {
      var a = add(td, "a", v.value.replace(/^http:\/\/www\.wikidata\.org\/(entity|prop\/direct)\//, ""));
      a.href = v.value;
      a.rel = "nofollow noopener noreferrer";
    } else {
      td.textContent = v.value + (v["xml:lang"] ? " (" + v["xml:lang"] + ")" : "");
    }
  }

  function show(a) {
    out.textContent = "";
    if (typeof a.boolean === "boolean") { note.textContent = a.boolean ? "Yes." : "No."; return; }
    var rows = a.results.bindings;
    note.textContent = rows.length === 1 ? "1 result" : rows.length + " results";
    var t = add(out, "table");
    t.className = "wikitable";
    var head = add(add(t, "thead"), "tr");
    a.head.vars.forEach(function (v) { add(head, "th", v).scope = "col"; });
    var tb = add(t, "tbody");
    rows.slice(0, 1000).forEach(function (row) {
      var tr = add(tb, "tr");
      a.head.vars.forEach(function (v) { cell(add(tr, "td"), row[v]); });
    });
  }

  function run() {
    note.textContent = "Running …";
    out.textContent = "";
    var query = box.value.replace(/\[AUTO_LANGUAGE\]/g, (navigator.language || "en").split("-")[0]);
    fetch(form.dataset.endpoint, {
      method: "POST", body: new URLSearchParams({ query: query }), headers: { Accept: "application/sparql-results+json, text/plain;q=0.1" }
    }).then(function (r) {
      return r.text().then(function (text) {
        if (!r.ok) { throw new Error(text.slice(0, 2000)); }
        var answer;
        try { answer = JSON.parse(text); } catch (e) { throw new Error(text.slice(text.lastIndexOf("\n") + 1).slice(0, 2000)); } // the failure follows the rows
        show(answer);
      });
    }).catch(function (e) { note.textContent = "The query failed."; var p = add(out, "p", e.message); p.className = "error"; p.setAttribute("role", "alert"); });
  }

  form.addEventListener("submit", function (e) {
    e.preventDefault();
    history.replaceState(null, "", "#" + encodeURIComponent(box.value));
    run();
  });

  function fromAddress() {
    if (location.hash.length < 2) { return; }
    try { box.value = decodeURIComponent(location.hash.slice(1)); } catch (e) { return; }
    box.rows = Math.min(14, Math.max(4, box.value.split("\n").length + 1)); // the result comes into view, also on a phone
    run();
  }
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
})();
