// Package annotate is the work of people who turn candidates of a harvest into benchmark items: what they decided, how
// far it is, what may be decided, and what a question has to say of its query. The page is internal/web/annotate.
//
// Every annotator's part in a candidate is a [Work]: the query as edited, the question as worded, a [dataset.Verdict].
// An annotator sees nothing of what others decided before giving a verdict ([Case.Visible]), so that agreement means
// something. Two verdicts are compared: anybody may confirm equal ones and resolve different ones. The outcome is a
// Work too; its Annotator is [Resolution] and its By says who. Package dataset/release makes items of it.
//
// Every change is an [Event] in a log to which events are only added, so older versions can always be restored.
package annotate
