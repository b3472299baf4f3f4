package tool

// feedbackArgs are the arguments of give_feedback.
type feedbackArgs struct {
	Status   string `json:"status" enum:"done,refine,retry" about:"done: the answer stays; refine: it needs small changes; retry: it needs another way"`
	Feedback string `json:"feedback" about:"what is good or wrong, and what to do"`
}

// feedbackTool is the tool that a judge uses to give its verdict (GRASP's give_feedback). No preset includes it.
var feedbackTool = typed[feedbackArgs](&Tool{Name: "give_feedback", Text: "give_feedback.md"}, nil)

// Feedback returns the tool that a judge uses to give its verdict on an answer.
func Feedback() *Tool { return feedbackTool }
