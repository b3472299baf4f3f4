// Package annotate is the web page on which people turn candidates of a harvest into benchmark items: discussion, query
// and result side by side, a question to write, and a verdict to reach. Package dataset/annotate decides what is
// allowed; this package shows and saves it.
//
// # Nothing is lost
//
// A text is saved half a second after the last key, and when its field is left; "saved" is shown when the
// [annotate.Store] has it on disk. Until then the browser keeps it (localStorage) and offers it again after a crash of
// either side. Every save carries the version it is based on: if two tabs edit the same work, the second one shows a
// warning and lets the person choose, with both texts in view.
//
// # What keeps strangers out
//
// The command listens on loopback only. A page on the internet could still make a browser send requests here. So the
// server accepts loopback host names only, in case an attacker's name points here. It refuses writes from other origins
// ([http.CrossOriginProtection]) and accepts them as JSON only. Scripts, styles and frames come only from the server
// itself (Content-Security-Policy). Names are for telling annotators apart, not for keeping them out. All text of
// candidates, graph and model is untrusted and reaches pages through html/template or textContent only.
package annotate
