// Package annotate models the work of people who turn candidates of a harvest into benchmark items: what they decided,
// their progress, what may be decided, and what a question has to say about its query. The page is
// internal/web/annotate.
//
// Every annotator's contribution to a candidate is a [Work]: the query as edited, the question as worded, a
// [dataset.Verdict]. Annotators see nothing of others' decisions before they decide ([Case.Visible]), so that agreement
// is meaningful. Two verdicts are compared: anyone may confirm equal ones and resolve different ones. The outcome is
// also a Work; its Annotator is [Resolution] and its By names the person. Package dataset/release turns it into items.
//
// Every change is an [Event] in a log to which events are only added, so older versions can always be restored.
package annotate
