// Package annotate is the web interface for turning harvested candidates into benchmark items: annotators see the
// discussion, the query and its result side by side, write a question, and give a verdict. Package dataset/annotate
// decides what annotators may do; this package shows the pages and saves the work.
//
// # Nothing is lost
//
// Text is saved half a second after the last keystroke and when its field loses focus; "saved" is shown once the
// [annotate.Store] has written it to disk. Until then, the browser keeps it (localStorage) and offers it again if
// either side crashes. Every save includes the version it is based on: if two tabs edit the same work, the second tab
// shows a warning and lets the user choose, with both texts in view.
//
// # What keeps strangers out
//
// The command listens only on loopback. A page on the internet could still make a browser send requests to it. The
// server therefore accepts only loopback host names, in case an attacker's host name resolves to it. It rejects writes
// from other origins ([http.CrossOriginProtection]) and accepts them only as JSON. Scripts, styles and frames come only
// from the server itself (Content-Security-Policy). Names distinguish annotators but do not keep anyone out. All text
// from candidates, the graph and the model is untrusted and reaches pages only through html/template or textContent.
package annotate
