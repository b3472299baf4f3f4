package forum

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Limits of a reply. A talk page is read by people: what is longer is cut, the query shows the rest.
// MaxShort is the number of characters of [Reply].Short that a reply shows. What is longer is cut.
const MaxShort = 1200

const (
	maxCell    = 200
	maxRows    = 10
	maxColumns = 8
	maxSteps   = 20
	maxThought = 400
	maxArg     = 600
	maxSeen    = 400 // of an observation
	markerName = "spinachbot"
)

func parserTag(name string) bool {
	switch name {
	case "noinclude", "onlyinclude", "translate", "tvar", "rdf", "html", "templatestyles", "embedvideo", "quiz", "seo":
		return true
	}
	return wikitext.IsExtensionTag(name)
}

// Compose writes a reply as wikitext in which every block has the given list prefix (":" or "::" and so on; see
// [ReplyIndent]). It has no newline at the end.
//
// MediaWiki's old parser and Parsoid both keep this form in one list item per block, and DiscussionTools keeps it as
// one comment. Each block starts a line with the prefix; the query's template and the tables continue over several
// lines without it; the signature ends the last line. Nothing from the model, the graph or the poster becomes markup
// (see encode); nobody is pinged: the person answered is named in text, the operator linked by the talk page, which
// notifies nobody.
//
// Errors say what is wrong with the reply: a query not in its posting form, a number that is not an entity ID, a marker
// or signature that could break out.
func Compose(r Reply, indent string) (string, error) {
	if indent == "" || strings.Trim(indent, ":*#") != "" {
		return "", fmt.Errorf("compose reply: indent %q: want one or more of : * #", text.Clip(indent, 20))
	}
	if strings.Trim(r.Marker, markerLetters) != "" || strings.Contains(r.Marker, "--") {
		return "", fmt.Errorf("compose reply: marker %q: want lower-case letters, digits and single hyphens",
			text.Clip(r.Marker, 40))
	}
	if r.Signature == "" || strings.ContainsAny(r.Signature, "\n\r") {
		return "", fmt.Errorf("compose reply: signature %q: want one line, ~~~~ on a wiki", text.Clip(r.Signature, 40))
	}
	if r.NoAnswer != "" && !noAnswers[r.NoAnswer] {
		return "", fmt.Errorf("compose reply: no sentence for reason %q", text.Clip(r.NoAnswer, 40))
	}
	if r.NoAnswer == "" && strings.TrimSpace(r.Short+r.Asks) == "" && r.Query == "" {
		return "", fmt.Errorf("compose reply: neither an answer nor a query nor a reason why there is none")
	}
	c := &composer{r: r, m: catalog(r.Language), indent: indent}
	c.answer()
	if r.Query != "" {
		if err := CheckQuery(r.Query); err != nil {
			return "", fmt.Errorf("compose reply: %w", err)
		}
		if err := c.query(); err != nil {
			return "", err
		}
		c.open()
	}
	c.earlier()
	c.steps()
	if err := c.close(); err != nil {
		return "", err
	}
	return strings.Join(c.blocks, "\n"), nil
}

type composer struct {
	r      Reply
	m      map[string]string
	indent string
	blocks []string
}

// block adds a block. MediaWiki knows a table only behind colons (Parser::handleTables): from the first one on the
// prefix is all colons, of the same depth, because going back to bullets would show a new one.
func (c *composer) block(s string) {
	if strings.HasPrefix(s, "{|") {
		c.indent = strings.Repeat(":", len(c.indent))
	}
	c.blocks = append(c.blocks, c.indent+s)
}

// answer is the first line: whom it is for, the short answer, and the marker by which we find our own reply again.
func (c *composer) answer() {
	var parts []string
	if to := encode(c.r.To, 100); to != "" {
		parts = append(parts, fill(c.m["to"], "user", to))
	}
	if c.r.NoAnswer != "" {
		parts = append(parts, c.m[c.r.NoAnswer])
	}
	if asks := encode(c.r.Asks, MaxShort); asks != "" {
		parts = append(parts, c.m["asks"], asks)
	}
	if short := encode(c.r.Short, MaxShort); short != "" {
		parts = append(parts, short)
	}
	line := strings.Join(parts, " ")
	if c.r.Marker != "" {
		line += markerComment(c.r.Marker)
	}
	c.block(line)
}

// markerLetters are what a marker is made of.
const markerLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

func markerComment(marker string) string { return "<!-- " + markerName + ":" + marker + " -->" }

// query is the query in its template, what it found, and when and where.
func (c *composer) query() error {
	c.block(c.m["query"] + " {{SPARQL|query=\n" + strings.ReplaceAll(c.r.Query, "|", "{{!}}") + "\n}}")
	found := ""
	total, shown := max(c.r.Total, len(c.r.Rows)), min(len(c.r.Rows), maxRows)
	switch {
	case c.r.Boolean != nil && *c.r.Boolean:
		found = c.m["yes"]
	case c.r.Boolean != nil:
		found = c.m["no"]
	case total == 0:
		found = c.m["rows_none"]
	case total == 1:
		found = c.m["rows_one"]
	case shown > 0 && shown < total:
		found = fill(c.m["rows_first"], "total", strconv.Itoa(total), "shown", strconv.Itoa(shown))
	default:
		found = fill(c.m["rows"], "total", strconv.Itoa(total))
	}
	if hidden := len(c.r.Vars) - maxColumns; hidden > 0 && shown > 0 {
		found += " " + fill(c.m["columns"], "count", strconv.Itoa(hidden))
	}
	if !c.r.RanAt.IsZero() && c.r.Endpoint != "" {
		found += " " + fill(c.m["ran"], "time", isoTime(c.r.RanAt), "endpoint", encode(c.r.Endpoint, 100))
	}
	c.block(found)
	if c.r.Boolean != nil || shown == 0 || len(c.r.Vars) == 0 {
		return nil
	}
	return c.table(shown)
}

// isoTime writes a time so that no reader of signatures takes it for one.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }

// table is the result's first rows.
func (c *composer) table(rows int) error {
	columns := min(len(c.r.Vars), maxColumns)
	var b strings.Builder
	b.WriteString("{| class=\"wikitable\"\n!")
	for i, v := range c.r.Vars[:columns] {
		if i > 0 {
			b.WriteString(" !!")
		}
		b.WriteString(" " + encode(v, 60))
	}
	for _, row := range c.r.Rows[:rows] {
		b.WriteString("\n|-\n|")
		for i := range columns {
			if i > 0 {
				b.WriteString(" ||")
			}
			if i >= len(row) {
				continue
			}
			text := encode(row[i].Text, maxCell)
			if row[i].ID != "" {
				link, err := entityLink(row[i].ID, row[i].Label)
				if err != nil {
					return err
				}
				text = link
			}
			if text != "" {
				b.WriteString(" " + text)
			}
		}
	}
	b.WriteString("\n|}")
	c.block(b.String())
	return nil
}

// steps is the collapsed list of how the answer was found. A query in a step is in <code>, encoded: only the posted
// query gets the template.
func (c *composer) steps() {
	steps := c.r.Steps
	if len(steps) == 0 {
		return
	}
	title := fill(c.m["steps"], "count", strconv.Itoa(len(steps)))
	switch {
	case c.r.NoAnswer != "" || c.r.Asks != "":
		title = fill(c.m["steps_tried"], "count", strconv.Itoa(len(steps)))
	case len(steps) == 1:
		title = c.m["steps_one"]
	}
	var b strings.Builder
	b.WriteString("{| class=\"wikitable mw-collapsible mw-collapsed\"\n! " + title + "\n|-\n|")
	for i, s := range steps {
		if i == maxSteps {
			b.WriteString("\n# " + fill(c.m["steps_more"], "count", strconv.Itoa(len(steps)-maxSteps)))
			break
		}
		b.WriteString("\n# ")
		if t := encode(s.Thought, maxThought); t != "" {
			b.WriteString(t)
		} else {
			b.WriteString(encode(s.Action, 60))
		}
		if s.Action != "" {
			b.WriteString("\n#: <code>" + encode(s.Action+"("+s.Argument, maxArg) + ")</code>")
		}
		if o := encode(s.Observation, maxSeen); o != "" {
			b.WriteString("\n#: → " + o)
		}
	}
	b.WriteString("\n|}")
	c.block(b.String())
}

// maxUserName is the length of a user name in bytes (MediaWiki's default of $wgMaxNameChars).
const maxUserName = 235

// CheckUserName reports why a name cannot be linked as a user's in a reply; spaces around it do not matter. It is
// stricter than MediaWiki (UserNameUtils::isValid): besides what no title may hold it refuses what could become markup
// in the link.
func CheckUserName(name string) error {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return fmt.Errorf("the user name is empty")
	case !utf8.ValidString(name):
		return fmt.Errorf("%q cannot be a user name: it is not valid UTF-8", text.Clip(name, 40))
	case len(name) > maxUserName:
		return fmt.Errorf("%q cannot be a user name: it has more than %d bytes", text.Clip(name, 40), maxUserName)
	case strings.ContainsAny(name, "/#:%&[]{}|<>~\n") || strings.Contains(name, "''"):
		return fmt.Errorf("%q cannot be a user name: write it as in the title of the user page, without namespace, subpage and markup", text.Clip(name, 40))
	case UserName(name) == "" || encode(name, maxUserName) == "":
		return fmt.Errorf("%q cannot be a user name: no visible character is left of it", text.Clip(name, 40))
	}
	return nil
}

// close is the last line. It says that a bot replied and who runs it, invites replies, and ends with the signature.
func (c *composer) close() error {
	notice := c.m["notice_nobody"]
	if op := strings.TrimSpace(c.r.Operator); op != "" {
		if err := CheckUserName(op); err != nil {
			return fmt.Errorf("compose reply: operator: %w", err)
		}
		notice = fill(c.m["notice"], "operator", "[[User talk:"+UserName(op)+"|"+encode(UserName(op), maxUserName)+"]]")
	}
	invite := c.m["invite"]
	if c.r.Asks != "" {
		invite = c.m["invite_asks"]
	}
	if c.r.NoAnswer != "" {
		invite = c.m["invite_failed"]
		if c.r.NoAnswer == "no_model" {
			invite = ""
		}
	}
	c.block(strings.Join(strings.Fields("<small>"+notice+"</small> "+invite), " ") + " --" + c.r.Signature)
	return nil
}
