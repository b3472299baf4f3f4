// Package annotate is the web page on which people turn candidates of a harvest into benchmark items: discussion beside query beside result, a question to
// write, a verdict to give.
//
// # The work
//
// Every annotator's say on a candidate is a [Work]: the query as trimmed, the question as worded, a [dataset.Verdict]. Who looks at a candidate that somebody
// else has decided sees nothing of that until the own verdict stands, so that agreement means something; the pages and the interface for scripts both keep to
// it ([Case.Visible]). With two verdicts a candidate is compared side by side: equal ones are confirmed, different ones resolved, by anybody. What comes of it is
// a Work too, whose Annotator is [Resolution] and whose By says who. Package dataset/release makes items of it.
//
// # Nothing is lost
//
// A text is saved half a second after the last key, and when its field is left; "saved" is shown when the [Store] has it on disk. Until then the browser keeps
// it (localStorage) and offers it again after a crash of either side. Every save carries the version it is based on: of two tabs that edit the same work the
// second is told, and chooses, with both texts in view. Every change is an [Event] in a log that is only ever added to; the version before is always there.
//
// # What keeps strangers out
//
// The command listens on loopback only. A page on the internet could still make a browser send requests here: the server answers under loopback names only
// (against names of the attacker's that point here), refuses writes from other origins ([http.CrossOriginProtection]) and takes them as JSON only; scripts, styles and
// frames come from nowhere else (Content-Security-Policy). Names are for telling annotators apart, not for keeping them out. All text of candidates, graph and
// model is untrusted and reaches pages through html/template or textContent only.
package annotate
