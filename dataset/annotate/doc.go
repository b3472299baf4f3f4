// Package annotate models the work of people who turn candidates of a harvest into benchmark items: their decisions and
// progress, the rules for decisions, and the parts of a query that a question must mention. Package
// internal/web/annotate serves the page.
//
// Every annotator's contribution to a candidate is a [Work]: the edited query, the wording of the question, and a
// [dataset.Verdict]. Annotators do not see other annotators' decisions before they decide ([Case.Visible]), so that
// agreement is meaningful. When there are two verdicts, they are compared: anyone may confirm equal ones and resolve
// different ones. The outcome is also a Work; its Annotator is [Resolution] and its By names the person. Package
// dataset/release turns it into items.
//
// Every change is an [Event] in a log to which events are only added, so older versions can always be restored.
package annotate
