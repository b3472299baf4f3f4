// Package annotate models the work of annotators, who turn harvested candidates into benchmark items: their decisions
// and progress, the rules for decisions, and the parts of a query that a question must mention. Package
// internal/web/annotate serves the annotation page.
//
// Every annotator's contribution to a candidate is a [Work]: the edited query, the wording of the question, and a
// [dataset.Verdict]. Annotators do not see other annotators' decisions before they decide ([Case.Visible]), so that
// agreement is meaningful. When there are two verdicts, they are compared: anyone may confirm equal verdicts and
// resolve different ones. The outcome is also a Work; its Annotator is [Resolution], and its By is the name of the
// person who resolved the case. Package dataset/release turns outcomes into items.
//
// Every change is an [Event] in an append-only log, so older versions can always be restored.
package annotate
