package llm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Script is a scripted model. It contains the response to each request at each step. It is read from a text file:
//
//	# A comment: lines before the first section, and the comment lines right above a "== request" line.
//	== request
//	Who was the head of the bakery in 1901?
//	== triage
//	{"request": true, "question": "…"}
//	== asked
//	{"same": false, "why": "…"}
//	(was an earlier request the same one?)
//	== language
//	English
//	== act 1
//	Thought: I look for the bakery.
//	Action: search_wikidata(bakery)
//	== act 1 tools
//	I look for the bakery.
//	Call: search_entity {"kg": "wikidata", "query": "bakery"}
//	(used at step 1 instead, if the request has tools: each line "Call: name arguments" starts a tool call; among
//	several such sections, the one whose tools the request has is used)
//	== feedback 1
//	Call: give_feedback {"status": "done", "feedback": "…"}
//	== judge 1
//	Points: 1 of 3
//	== act 2 fail 429 503
//	(the first two HTTP attempts at step 2 fail with these statuses, the third gets this text; "drop" cuts the connection)
//	== prune Q183
//	{"area (P2046)": "…"}
//	== analyze
//	{"extracted_classes": ["bakery"], …}
//	== extract
//	SELECT …
//	== report
//	The answer is …
//	== proofread
//	{"answer": "…"}
//	(without this section, nothing is changed)
//
// Sometimes the model judges a post and takes the first turn in one response. Then the request has a tool named triage,
// and the response contains the calls of "== act 1 tools", followed by a call to triage with the text under "== triage"
// as its arguments.
//
// The text under "== request" is a snippet of the post (for triage) or of the question (for all other tasks); any run
// of white space counts as one space. Task and text come from the request's metadata, not from its messages, so the
// prompts can change freely. If the snippets of several requests match, the longest one is used. A "=====" line
// separates the samples of one response. If a line of a response starts with "== ", write it as "\== ". A Script does
// not change after it has been read.
type Script struct {
	requests []*scriptRequest
}

// scriptRequest is the script for one request.
type scriptRequest struct {
	snippet  string // with white space collapsed
	line     int
	sections []*scriptSection
}

// scriptSection is one response. Its key is the task with its argument: "triage", "act 2", "prune Q183".
type scriptSection struct {
	task    string
	arg     string   // step number for act, entity ID for prune
	tools   bool     // the section applies only to requests with tools
	calls   []string // the tools that the section calls
	samples []string
	fail    []int // statuses of the first attempts; 0 cuts the connection
	line    int
}

// The purposes of the calls that a script can answer.
const (
	taskTriage   = "triage"
	taskAsked    = "asked" // whether the request was made before
	taskProof    = "proofread"
	taskLanguage = "language"
	taskAct      = "act"
	taskPrune    = "prune"
	taskExtract  = "extract"
	taskReport   = "report"
	taskFeedback = "feedback"
	taskAnalyze  = "analyze"
	taskJudge    = Judge // its argument is the number of completed steps
)

// ParseScript reads a script. Errors contain the line number.
func ParseScript(r io.Reader) (*Script, error) {
	p := &scriptParser{}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 4<<20)
	for sc.Scan() {
		p.n++
		line := strings.TrimSuffix(sc.Text(), "\r")
		if p.n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("script, line %d: %w", p.n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("script, after line %d: %w", p.n, err)
	}
	if err := p.close(); err != nil {
		return nil, fmt.Errorf("script, line %d: %w", p.n, err)
	}
	return &p.script, nil
}

// Requests returns the snippets of all requests in order.
func (s *Script) Requests() []string {
	var out []string
	for _, r := range s.requests {
		out = append(out, r.snippet)
	}
	return out
}

type scriptParser struct {
	script  Script
	n       int
	section *scriptSection // nil before the first header; task "request" for a snippet
	lines   []string
}

func (p *scriptParser) line(line string) error {
	head, ok := strings.CutPrefix(line, "==")
	if !ok || strings.HasPrefix(head, "=") || (head != "" && head[0] != ' ' && head[0] != '\t') {
		if p.section == nil {
			if t := strings.TrimSpace(line); t != "" && !strings.HasPrefix(t, "#") {
				return fmt.Errorf("text before the first section; write \"== request\" above it or \"#\" before it")
			}
			return nil
		}
		p.lines = append(p.lines, strings.TrimPrefix(line, "\\"))
		if !strings.HasPrefix(line, "\\==") {
			p.lines[len(p.lines)-1] = line
		}
		return nil
	}
	next, err := parseHeader(strings.Fields(head))
	if err != nil {
		return err
	}
	next.line = p.n
	if next.task == "request" && p.section != nil {
		p.lines = dropComments(p.lines)
	}
	if err := p.close(); err != nil {
		return err
	}
	if next.task != "request" && len(p.script.requests) == 0 {
		return fmt.Errorf("section %q comes before the first \"== request\"", next.task)
	}
	p.section, p.lines = next, nil
	return nil
}

// dropComments removes the trailing comment lines, since they belong to the next request.
func dropComments(lines []string) []string {
	n := len(lines)
	for n > 0 {
		t := strings.TrimSpace(lines[n-1])
		if t != "" && !strings.HasPrefix(t, "#") {
			break
		}
		n--
	}
	return lines[:n]
}

var entityNumber = regexp.MustCompile(`^[QPL][1-9][0-9]*$`)

func parseHeader(words []string) (*scriptSection, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("a section without a name; for a line of text write \"\\==\"")
	}
	s := &scriptSection{task: words[0]}
	rest := words[1:]
	switch s.task {
	case "request", taskTriage, taskAsked, taskLanguage, taskAnalyze, taskExtract, taskReport, taskProof:
	case taskAct, taskFeedback, taskJudge:
		if len(rest) == 0 || !isNumber(rest[0]) {
			return nil, fmt.Errorf("%s requires the number of its turn: \"== %s 1\"", s.task, s.task)
		}
		s.arg, rest = rest[0], rest[1:]
		if len(rest) > 0 && rest[0] == "tools" {
			s.tools, rest = true, rest[1:]
		}
	case taskPrune:
		if len(rest) == 0 || !entityNumber.MatchString(rest[0]) {
			return nil, fmt.Errorf("prune requires the entity's ID: \"== prune Q183\"")
		}
		s.arg, rest = rest[0], rest[1:]
	default:
		return nil, fmt.Errorf("unknown section %q; there are request, triage, asked, language, analyze, act N, feedback N, judge N, prune Q…, extract, report and proofread", s.task)
	}
	if len(rest) == 0 {
		return s, nil
	}
	if rest[0] != "fail" || len(rest) == 1 || s.task == "request" {
		return nil, fmt.Errorf("cannot read %q; only \"fail\" with statuses may follow", strings.Join(rest, " "))
	}
	for _, w := range rest[1:] {
		status, err := strconv.Atoi(w)
		if w == "drop" {
			status, err = 0, nil
		} else if err == nil && (status < 400 || status > 599) {
			err = strconv.ErrRange
		}
		if err != nil {
			return nil, fmt.Errorf("%q is neither a status from 400 to 599 nor \"drop\"", w)
		}
		s.fail = append(s.fail, status)
	}
	return s, nil
}

func isNumber(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0
}

func (p *scriptParser) close() error {
	s := p.section
	if s == nil {
		return nil
	}
	body := strings.Join(p.lines, "\n")
	if s.task == "request" {
		snippet := text.Fold(body)
		if snippet == "" {
			return fmt.Errorf("the request on line %d has no text to recognize it by", s.line)
		}
		for _, r := range p.script.requests {
			if r.snippet == snippet {
				return fmt.Errorf("the requests on lines %d and %d are the same", r.line, s.line)
			}
		}
		p.script.requests = append(p.script.requests, &scriptRequest{snippet: snippet, line: s.line})
		return nil
	}
	s.samples = splitSamples(p.lines)
	if s.tools {
		for _, m := range calledTool.FindAllStringSubmatch(body, -1) {
			s.calls = append(s.calls, m[1])
		}
	}
	r := p.script.requests[len(p.script.requests)-1]
	for _, old := range r.sections {
		if old.task != s.task || old.arg != s.arg || old.tools != s.tools || !slices.Equal(old.calls, s.calls) {
			continue
		}
		return fmt.Errorf("section \"%s\" on line %d is already on line %d", strings.TrimSpace(s.task+" "+s.arg),
			s.line, old.line)
	}
	r.sections = append(r.sections, s)
	return nil
}

func splitSamples(lines []string) []string {
	var out []string
	start := 0
	for i := 0; i <= len(lines); i++ {
		if i == len(lines) || strings.TrimRight(lines[i], " \t") == "=====" {
			out = append(out, strings.TrimSpace(strings.Join(lines[start:i], "\n")))
			start = i + 1
		}
	}
	return out
}

// calledTool matches the names of the tools that a section calls.
var calledTool = regexp.MustCompile(`(?m)^Call:[ \t]*(\w+)`)

// section returns the section that answers the call. Once the script has run out, an act, feedback or judge call gets
// the last section of its kind. For a request with tools, sections that call one of them are preferred.
func (r *scriptRequest) section(task, arg string, tools []string) *scriptSection {
	var last *scriptSection
	for _, s := range r.sections {
		if s.task != task || s.tools != (len(tools) > 0) || len(s.calls) > 0 &&
			!slices.ContainsFunc(s.calls, func(name string) bool { return slices.Contains(tools, name) }) {
			continue
		}
		if s.arg == arg {
			return s
		}
		last = s
	}
	switch {
	case len(tools) > 0 && last == nil:
		return r.section(task, arg, nil)
	case task == taskProof && last == nil:
		return &scriptSection{task: task, samples: []string{"{}"}, line: r.line}
	case task != taskAct && task != taskFeedback && task != taskJudge:
		return nil
	}
	return last
}

// match returns the request with the longest snippet that occurs in said, or nil.
func (s *Script) match(said string) *scriptRequest {
	said = text.Fold(said)
	var best *scriptRequest
	for _, r := range s.requests {
		if strings.Contains(said, r.snippet) && (best == nil || len(r.snippet) > len(best.snippet)) {
			best = r
		}
	}
	return best
}

// Metadata keys that describe the purpose of a call to the scripted model; see [Request].
const (
	metaPurpose = "purpose"
	metaPart    = "part"
	metaSubject = "subject"
)

// scriptCall identifies the response that a chat request asks for.
type scriptCall struct {
	task, arg string
	text      string // the question, or the post to judge
}

func readCall(metadata map[string]string) (scriptCall, error) {
	c := scriptCall{task: metadata[metaPurpose], arg: metadata[metaPart], text: metadata[metaSubject]}
	switch {
	case c.task == "":
		return c, errors.New(`the request does not say what it is for: the scripted model requires "metadata" with purpose, part and subject, ` +
			`which this program sends when OPENAI_MODEL=` + ScriptModel)
	case strings.TrimSpace(c.text) == "":
		return c, errors.New("the request's metadata has no subject: the question, or the post to judge")
	}
	return c, nil
}
