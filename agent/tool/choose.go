package tool

// chooseArgs are the arguments of choose_answer.
type chooseArgs struct {
	Answer int    `json:"answer" about:"number of the answer that is right; 0 when none is"`
	Why    string `json:"why" about:"in one or two sentences, what decides it"`
}

// chooseTool is the tool that a judge uses to choose among different answers. No preset includes it.
var chooseTool = typed[chooseArgs](&Tool{Name: "choose_answer", Text: "choose_answer.md"}, nil)

// Choose returns the tool that a judge uses to choose among answers.
func Choose() *Tool { return chooseTool }
