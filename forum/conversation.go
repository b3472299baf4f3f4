package forum

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// Conversation is a thread viewed as a request and its responses. It has the data that a benchmark needs for its
// statistics and for choosing a query (SPINACH, section 3 and appendix C).
type Conversation struct {
	Requester string     // author of the first comment; empty if it is unsigned
	Asked     *time.Time // when the first comment was signed
	// number of comments after the first one, from anyone, as in SPINACH's table of conversation lengths
	Responses int
	Queries   []Posted // all queries in page order
	// index into Queries of the last-mentioned query that was not posted by one of our bots; -1 if there is none
	Last     int
	Thanked  bool // the requester thanked someone; see [Comment.Thanks]
	Resolved bool // the thread is marked as resolved, by a template or in its heading ("[SOLVED]"), by anyone
	Closed   bool // the requester marked the thread as resolved with a signed template (who changed a heading is unknown)
}

// Posted is a query with its poster.
type Posted struct {
	Query
	Comment int    // index into the thread's comments
	Author  string // empty if unsigned
	Bot     bool   // posted by one of the named bots
}

// Conversation returns the thread as a conversation. bots are the user names of our own accounts. Their queries are
// listed, but Last ignores them.
//
// A query behind a short link (see [Options.ShortLinks]) is treated as a query even though its text is not known yet.
// If it turns out to be something else, the caller must use the previous query.
func (t *Thread) Conversation(bots ...string) Conversation {
	c := Conversation{Last: -1}
	c.Resolved = t.Resolved || solvedHeading(t.Heading)
	if len(t.Comments) == 0 {
		return c
	}
	if first := &t.Comments[0]; first.Author != nil {
		c.Requester, c.Asked = *first.Author, first.Time
	}
	c.Responses = len(t.Comments) - 1
	c.Closed = c.Requester != "" && UserName(t.ResolvedBy) == UserName(c.Requester)
	answered := false
	for i := range t.Comments {
		m := &t.Comments[i]
		own := slices.ContainsFunc(bots, m.By)
		for _, q := range m.Queries {
			p := Posted{Query: q, Comment: i, Bot: own}
			if m.Author != nil {
				p.Author = *m.Author
			}
			if !own {
				c.Last = len(c.Queries)
			}
			c.Queries = append(c.Queries, p)
		}
		byRequester := c.Requester != "" && m.By(c.Requester)
		c.Thanked = c.Thanked || answered && byRequester && m.Thanks()
		answered = answered || !byRequester && i > 0
	}
	return c
}

// solvedHeading reports whether users have marked the request as answered in the heading: "[SOLVED] …", "… (resolved)".
func solvedHeading(heading string) bool {
	low := strings.ToLower(heading)
	for _, w := range []string{"solved", "resolved", "gelöst", "erledigt", "résolu", "resuelto", "risolto"} {
		for _, marked := range []string{"[" + w + "]", "(" + w + ")"} {
			if strings.Contains(low, marked) {
				return true
			}
		}
	}
	return false
}

// thanksWords contains words of thanks in the languages most used on the forum; thanksScripts contains those in scripts
// that do not separate words. "Great" and "it works" are not thanks.
var (
	thanksWords = wordSet(`thanks thank thankyou thankee thx thnx tnx cheers kudos danke dankeschön dank merci gracias grazie obrigado obrigada bedankt dankjewel dankuwel dzięki
dziękuję dziękuje děkuji díky ďakujem tack takk kiitos köszönöm mulțumesc mulţumesc hvala teşekkürler teşekkür sağol terima дякую спасибо благодарю хвала ευχαριστώ
mercès gràcies eskerrik dankon شكرا תודה`)
	thanksScripts = []string{"ありがと", "感謝", "谢谢", "謝謝", "多谢", "多謝", "感谢", "감사", "고마", "धन्यवाद", "ধন্যবাদ"}
	// Words that turn a word of thanks after them into a refusal, and phrases for thanking someone in advance.
	beforeThanks = wordSet("no nein non nee")
	inAdvance    = []string{"in advance", "im voraus", "d'avance", "d’avance", "par avance", "de antemano",
		"por adelantado", "in anticipo", "desde já", "antecipadamente", "bij voorbaat",
		"alvast", "på förhånd", "på förhand", "z góry", "заранее"}
)

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// Thanks reports whether the comment thanks anyone, that is, whether one of its sentences has a word of thanks
// ("thanks", "thx", "cheers", "danke", "merci", "gracias", "спасибо", "谢谢" and others, in about thirty languages). It
// ignores words of thanks after "no" and in phrases such as "thanks in advance", as well as praise and agreement
// without a word of thanks ("perfect!", "it works").
func (c *Comment) Thanks() bool {
	for _, sentence := range strings.FieldsFunc(strings.ToLower(c.Text),
		func(r rune) bool { return strings.ContainsRune(".!?;\n。！？", r) }) {
		if slices.ContainsFunc(inAdvance, func(s string) bool { return strings.Contains(sentence, s) }) {
			continue
		}
		if slices.ContainsFunc(thanksScripts, func(s string) bool { return strings.Contains(sentence, s) }) {
			return true
		}
		before := ""
		for _, w := range strings.FieldsFunc(sentence, func(r rune) bool {
			return !unicode.IsLetter(r) &&
				!unicode.IsMark(r) && r != '-'
		}) {
			if thanksWords[w] && !beforeThanks[before] {
				return true
			}
			before = w
		}
	}
	return false
}
