package forum

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/forum/already"
	"github.com/spinachbot/spinachbot/forum/escape"
	"github.com/spinachbot/spinachbot/forum/wrap"
	"github.com/spinachbot/spinachbot/internal/message"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// MaxShort is the maximum number of characters of [Reply].Short that a reply shows. Every part of a reply has such a
// limit, because a talk page must stay readable and the query returns the full result.
const MaxShort = 1200

// MaxRows is the maximum number of rows of a result that a reply shows.
const MaxRows = 30

// Shown returns how many rows of a result a reply shows: all of them, or 20 if there are more than [MaxRows]. It never
// leaves out just a few rows, because that is not worth it.
func Shown(total int) int {
	if total <= MaxRows {
		return total
	}
	return 20
}

const (
	maxCell    = 200
	maxFile    = 40 // characters in a file's name, which is shown as a link
	maxColumns = 8
	maxSteps   = 10
	maxAsked   = 100  // characters in a search string
	maxLink    = 2000 // bytes in a URL
	maxModel   = 60
	markerName = "spinachbot"
)

func parserTag(name string) bool {
	switch name {
	case "noinclude", "onlyinclude", "translate", "tvar", "rdf", "html", "templatestyles", "embedvideo", "quiz", "seo":
		return true
	}
	return wikitext.IsExtensionTag(name)
}

// Compose returns the wikitext of a reply, with each block prefixed with indent (":", "::" and so on; see
// [ReplyIndent]). The result does not end in a newline.
//
// The answer comes first, followed by the fault in the poster's own query, the query, its result, the assumptions and
// open questions, and the collapsed steps.
//
// MediaWiki's old parser and Parsoid both render this form as one list item per block, and DiscussionTools treats it as
// one comment. Each block starts on a new line with the prefix; the query's template and the tables span several lines,
// without the prefix; the signature ends the last line. No text from the model, the graph or the poster is interpreted
// as markup (see encode). If [Reply].Ping is set, the user being answered is pinged; otherwise, that user's name is
// plain text. No one else is pinged. The link to the operator leads to the talk page, so it does not notify the
// operator.
//
// Compose returns an error if the reply is invalid, for example if the query is not in posting form, an entity ID is
// invalid, or a marker or signature could break out of its context.
func Compose(r Reply, indent string) (string, error) {
	if _, err := catalog(); err != nil {
		return "", fmt.Errorf("compose reply: %w", err)
	}
	if err := checkReply(r, indent); err != nil {
		return "", fmt.Errorf("compose reply: %w", err)
	}
	c := &composer{r: r, t: Texts(r.Language), indent: indent}
	c.answer()
	if r.Query != "" {
		c.yours()
		c.query()
		if err := c.result(); err != nil {
			return "", err
		}
		c.notes()
	} else if r.Tried != "" {
		c.query()
	}
	c.earlier()
	if err := c.steps(); err != nil {
		return "", err
	}
	if err := c.close(); err != nil {
		return "", err
	}
	return strings.Join(c.blocks, "\n"), nil
}

// ShownQuery returns the query in the reply, or "" if there is none.
func (r *Reply) ShownQuery() string { return cmp.Or(r.Query, r.Tried) }

func checkReply(r Reply, indent string) error {
	switch {
	case indent == "" || strings.Trim(indent, ":*#") != "":
		return fmt.Errorf("indent %q: want one or more of : * #", text.Clip(indent, 20))
	case strings.Trim(r.Marker, markerLetters) != "" || strings.Contains(r.Marker, "--"):
		return fmt.Errorf("marker %q: want lowercase letters, digits and single hyphens", text.Clip(r.Marker, 40))
	case r.Signature == "" || strings.ContainsAny(r.Signature, "\n\r"):
		return fmt.Errorf("signature %q: want one line, ~~~~ on a wiki", text.Clip(r.Signature, 40))
	case r.NoAnswer != "" && !noAnswers[r.NoAnswer]:
		return fmt.Errorf("no sentence for reason %q", text.Clip(r.NoAnswer, 40))
	case r.NoAnswer == "" && strings.TrimSpace(r.Short+r.Asks) == "" && r.Query == "":
		return errors.New("the reply has no answer, no query and no reason for the lack of an answer")
	}
	for _, address := range []string{r.QueryPage, r.Trace} {
		if address == "" {
			continue
		}
		if err := CheckAddress(address); err != nil {
			return err
		}
	}
	if r.TracePage != "" && !escape.Title(r.TracePage) {
		return fmt.Errorf("%q cannot be linked as a page", text.Clip(r.TracePage, 100))
	}
	if r.Query != "" && r.Tried != "" {
		return errors.New("a reply with an answer has only the answer's query")
	}
	if query := r.ShownQuery(); query != "" {
		return CheckQuery(query)
	}
	return nil
}

// CheckAddress returns an error if s is not a URL that a reply can link to.
func CheckAddress(s string) error {
	_, rest, ok := strings.Cut(s, "://")
	strange := strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>[]{}|\\\"'~", r)
	})
	if !ok || rest == "" || strange || len(s) > maxLink || !strings.HasPrefix(s, "http") {
		return fmt.Errorf("%q cannot be linked: use the form https://example.org/path and percent-encode special characters (%%XX)",
			text.Clip(s, 100))
	}
	return nil
}

type composer struct {
	r      Reply
	t      *message.Texts
	indent string
	said   bool // the answer is the result's only value
	blocks []string
}

// block adds a block. MediaWiki recognizes a table only after colons (Parser::handleTables). Therefore, from the first
// table on, the prefix consists only of colons, at the same depth; a later bullet would start a new list item.
func (c *composer) block(s string) {
	if strings.HasPrefix(s, "{|") {
		c.indent = strings.Repeat(":", len(c.indent))
	}
	c.blocks = append(c.blocks, c.indent+s)
}

// line marks the direction of a sentence in a right-to-left language, since the surrounding page is left-to-right.
func (c *composer) line(s string) string {
	if s == "" || c.t.Direction() == "ltr" {
		return s
	}
	return fmt.Sprintf(`<span lang="%s" dir="rtl">%s</span>`, c.t.Tag(), s)
}

// space returns the separator between two sentences.
func (c *composer) space() string {
	if base, _ := c.t.Tag().Base(); base.String() == "ja" || base.String() == "zh" {
		return ""
	}
	return " "
}

// answer adds the first line: the addressee, the short answer, and the marker by which the bot later recognizes its
// reply.
func (c *composer) answer() {
	var parts []string
	if to := encode(c.r.To, 100); to != "" {
		if name := UserName(c.r.To); c.r.Ping && CheckUserName(name) == nil {
			to = "[[User:" + name + "|" + encode(name, maxUserName) + "]]"
		}
		parts = append(parts, c.t.Text("to", "user", to))
	}
	parts = append(parts, c.amended()...)
	short := c.prose(c.r.Short)
	// The model's text, if any, says what was not found, so it is more precise than the message.
	if c.r.NoAnswer != "" && (c.r.NoAnswer != "not_found" || short == "") {
		parts = append(parts, c.t.Text(c.r.NoAnswer))
	}
	if asks := c.prose(c.r.Asks); asks != "" {
		parts = append(parts, c.t.Text("asks"), asks)
	}
	if short == "" && c.r.Query != "" {
		short = c.found()
		if value, err := c.value(); err == nil && value != "" {
			short, c.said = c.t.Text("result", "value", value), true
		}
	}
	if short != "" {
		parts = append(parts, short)
	}
	line := c.line(strings.Join(parts, c.space()))
	if c.r.Marker != "" {
		line += markerComment(c.r.Marker)
	}
	c.block(line)
}

// prose encodes text written by the model, and links item and property IDs. A short ID may mean something else, such as
// the third quarter of a year (Q3), so it is linked only if the query contains it, or if it is a property ID in
// parentheses.
func (c *composer) prose(s string) string {
	s = wrap.Numbers(longNumber.ReplaceAllStringFunc(encode(s, MaxShort), c.formatted))
	var b strings.Builder
	done := 0
	for _, m := range bareID.FindAllStringIndex(s, -1) {
		id := s[m[0]:m[1]]
		before, _ := utf8.DecodeLastRuneInString(s[:m[0]])
		after, _ := utf8.DecodeRuneInString(s[m[1]:])
		link, err := entityLink(id, "")
		part := strings.ContainsRune(":/-#=_", before) || strings.ContainsRune("…/-=_", after) // as in wdt:P31 or a URL
		known := len(id) >= minLinked || wordIn(c.r.Query, id) || id[0] == 'P' && before == '(' && after == ')'
		if err != nil || part || !known {
			continue
		}
		b.WriteString(s[done:m[0]] + link)
		done = m[1]
	}
	return b.String() + s[done:]
}

// longNumber matches a number that is hard to read without separators.
var longNumber = regexp.MustCompile(`\b[1-9]\d{4,}\b`)

// formatted returns a number from the result in the form in which the table shows it. Other numbers may be part of a
// code, so they are not changed.
func (c *composer) formatted(number string) string {
	for _, row := range c.r.Rows {
		for _, v := range row {
			if v.Kind == "number" && v.Text == number {
				return c.t.Decimal(number)
			}
		}
	}
	return number
}

var bareID = regexp.MustCompile(`\b[QP][1-9]\d{0,10}\b`)

const minLinked = 4 // an ID at least this long cannot be mistaken for anything else

func wordIn(s, word string) bool {
	return slices.Contains(bareID.FindAllString(s, -1), word)
}

const markerLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

func markerComment(marker string) string { return "<!-- " + markerName + ":" + marker + " -->" }

func (c *composer) query() {
	c.block(c.line(c.t.Text("query")) + c.space() + "{{SPARQL|query=\n" + strings.ReplaceAll(c.r.ShownQuery(), "|", "{{!}}") + "\n}}")
}

// notes adds the assumptions, what is missing, and the interpretations that would change the answer, one per line.
func (c *composer) notes() {
	for _, n := range []struct{ key, text string }{{"assumed", c.r.Assumed}, {"missing", c.r.LeftOpen}} {
		if said := c.prose(n.text); said != "" {
			c.block(c.line(c.t.Text(n.key, "text", said)))
		}
	}
	c.open()
}

// yours adds a sentence about the fault in the poster's own query, unless the answer mentions it.
func (c *composer) yours() {
	switch f := c.r.Yours; {
	case already.YourQuery(c.r.Short) || f.ID != "" && strings.Contains(c.r.Short, f.ID):
	case (f.Kind == FaultEmpty || f.Kind == FaultSlow) && already.Explains(c.r.Short): // already explained
	case f.Kind == FaultSyntax && already.Brackets(c.r.Short): // the answer already names the missing bracket
	case f.Kind == FaultSyntax:
		c.block(c.line(c.t.Text("yours_syntax", "line", strconv.Itoa(f.Line))))
	case f.Kind == FaultStatement && entityID(f.ID):
		c.block(c.line(c.t.Text("yours_statement", "id", f.ID)))
	case f.Kind == FaultEntity && entityID(f.ID):
		c.block(c.line(c.t.Text("yours_entity", "id", f.ID)))
	case f.Kind == FaultQualifier && entityID(f.ID):
		c.block(c.line(c.t.Text("yours_qualifier", "id", f.ID)))
	case f.Kind == FaultText && entityID(f.ID) && entityID(f.Item):
		c.block(c.line(c.t.Text("yours_text", "text", encode(f.Text, 60), "id", f.ID, "item", f.Item)))
	case f.Kind == FaultEmpty:
		c.block(c.line(c.t.Text("yours_empty")))
	case f.Kind == FaultSlow:
		c.block(c.line(c.t.Text("yours_slow")))
	}
}

// moment formats a time in the reply's language. The zone has no parentheses, so that parsers do not mistake it for a
// signature.
func (c *composer) moment(t time.Time) string {
	return c.t.Text("moment", "date", c.t.Date(t.UTC()), "time", t.UTC().Format("15:04"))
}

// maxUserName is the maximum length of a user name in bytes (MediaWiki's default for $wgMaxNameChars).
const maxUserName = 235

// CheckUserName returns an error if a reply cannot link to a user with that name. Leading and trailing spaces are
// ignored. The check is stricter than MediaWiki's (UserNameUtils::isValid): in addition to characters that titles may
// not contain, it rejects anything that could become markup in the link.
func CheckUserName(name string) error {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return fmt.Errorf("the user name is empty")
	case !utf8.ValidString(name):
		return fmt.Errorf("%q cannot be a user name: it is not valid UTF-8", text.Clip(name, 40))
	case len(name) > maxUserName:
		return fmt.Errorf("%q cannot be a user name: it is longer than %d bytes", text.Clip(name, 40), maxUserName)
	case strings.ContainsAny(name, "/#:%&[]{}|<>~\n") || strings.Contains(name, "''"):
		return fmt.Errorf("%q cannot be a user name: write it as in the title of the user page, without a namespace, subpage or markup", text.Clip(name, 40))
	case UserName(name) == "" || encode(name, maxUserName) == "":
		return fmt.Errorf("%q cannot be a user name: it has no visible characters", text.Clip(name, 40))
	}
	return nil
}

// close adds the last line. It discloses that a bot replied and who runs it, invites replies, and ends with the
// signature.
func (c *composer) close() error {
	notice := c.t.Text("notice_plain")
	if model := encode(c.r.Model, maxModel); model != "" {
		notice = c.t.Text("notice", "model", model)
	}
	if c.r.NoAnswer == "no_model" {
		notice = c.t.Text("notice_bot")
	}
	if op := strings.TrimSpace(c.r.Operator); op != "" {
		if err := CheckUserName(op); err != nil {
			return fmt.Errorf("compose reply: operator: %w", err)
		}
		link := "[[User talk:" + UserName(op) + "|" + encode(UserName(op), maxUserName) + "]]"
		notice += c.space() + c.t.Text("operator", "operator", link)
	}
	invite := c.t.Text("invite")
	switch {
	case c.r.Asks != "":
		invite = c.t.Text("invite_asks")
	case c.r.Last || c.r.NoAnswer == "no_model":
		invite = ""
	case c.r.NoAnswer == "not_found" && c.r.Short != "": // the answer explains why, so asking for details would not help
		invite = c.t.Text("invite_unclear")
	case c.r.NoAnswer != "":
		invite = c.t.Text("invite_failed")
	}
	if c.r.Settled && c.r.Query != "" {
		invite += c.space() + c.t.Text("invite_resolved")
	}
	if !c.r.RanAt.IsZero() && c.r.Endpoint != "" {
		notice = c.t.Text("ran", "time", c.moment(c.r.RanAt), "endpoint", encode(c.r.Endpoint, 100)) + c.space() + notice
	}
	if invite = strings.TrimSpace(invite); invite != "" {
		notice += c.space() + invite
	}
	c.block(c.line("<small>"+notice+"</small>") + " --" + c.r.Signature)
	return nil
}
