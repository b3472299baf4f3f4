package function

import (
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// regex is a compiled pattern for REGEX or REPLACE. The running time of Go's engine is proportional to the size of the
// text times the size of the pattern, which is stored in size.
type regex struct {
	re   *regexp.Regexp
	size int
	err  string
}

// Limits on patterns: length in bytes, number of flags, and size of the program.
const (
	maxPattern = 10_000
	maxFlags   = 16
	maxProgram = 20_000
)

// programSize is the approximate size in bytes of an instruction in a compiled program, including its one-pass form.
const programSize = 120

// compileRegex compiles an XPath (or Java) pattern. The flags i, s, m, x and q are supported. If the pattern uses a
// feature that our engine lacks (lookaround, backreferences), the result contains an error message.
func compileRegex(pattern, flags string) *regex {
	if len(pattern) > maxPattern {
		return &regex{err: "the regular expression is longer than 10,000 characters"}
	}
	if len(flags) > maxFlags {
		return &regex{err: "REGEX has the flags i, s, m, x and q, each at most once"}
	}
	goFlags := ""
	for _, f := range flags {
		switch f {
		case 'i', 's', 'm':
			goFlags += string(f)
		case 'x':
			pattern = stripPatternSpace(pattern)
		case 'q':
		default:
			return &regex{err: "REGEX has the flags i, s, m, x and q, not " + string(f)}
		}
	}
	if strings.Contains(flags, "q") {
		pattern = regexp.QuoteMeta(pattern)
	}
	if goFlags != "" {
		pattern = "(?" + goFlags + ")" + pattern
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return &regex{err: "the regular expression is not supported here (look-around and back-references are not): " +
			err.Error()}
	}
	size := patternSize(tree)
	if size > maxProgram {
		return &regex{err: "the regular expression is too large"}
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return &regex{err: err.Error()}
	}
	return &regex{re: re, size: size}
}

// stripPatternSpace drops white space outside character classes (flag x).
func stripPatternSpace(p string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '\\' && i+1 < len(p) {
			b.WriteByte(c)
			i++
			b.WriteByte(p[i])
			continue
		}
		if c == '[' {
			class = true
		} else if c == ']' {
			class = false
		}
		if class || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// patternSize estimates the program's size from the syntax tree, before repetitions are expanded.
func patternSize(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, s := range re.Sub {
		n += patternSize(s)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Max, re.Min, 1)
	}
	return min(n, 1<<30)
}

// regexFor returns a compiled pattern, from the query's cache if possible.
func (e *Env) regexFor(pattern, flags string) *regex {
	if len(pattern) > maxPattern || len(flags) > maxFlags {
		return compileRegex(pattern, flags)
	}
	key := flags + "/" + pattern
	if r, ok := e.regex[key]; ok {
		return r
	}
	r := compileRegex(pattern, flags)
	e.Work(64 + r.size)
	if len(e.regex) < 256 {
		e.regex[key] = r
		_ = e.Alloc(len(key) + 500 + programSize*r.size) // the error is kept in e.Err
	}
	return r
}

// slowMatch is the product of text size and pattern size above which a match checks the limits as it runs.
const slowMatch = 1 << 20

// matches reports whether the pattern occurs in a string. A long match checks the limits as it runs.
func (e *Env) matches(r *regex, s string) bool {
	if len(s)*r.size < slowMatch {
		return e.Work(1+len(s)*r.size/256) && r.re.MatchString(s)
	}
	return r.re.MatchReader(&watchedText{env: e, s: s, every: max(1, (1<<18)/r.size)})
}

// watchedText passes a string to the engine rune by rune and stops early if a limit is reached.
type watchedText struct {
	env   *Env
	s     string
	count int
	every int
}

// ReadRune implements [io.RuneReader].
func (w *watchedText) ReadRune() (rune, int, error) {
	if w.count++; w.count%w.every == 0 && w.env.Check() != nil || w.s == "" {
		return 0, 0, io.EOF
	}
	r, n := utf8.DecodeRuneInString(w.s)
	w.s = w.s[n:]
	return r, n, nil
}

// Regex implements REGEX(text, pattern, flags).
func Regex(e *Env, args []value.Value) value.Value {
	flags := value.String("")
	if len(args) == 3 {
		flags = args[2]
	}
	r := e.regexArgs(args[1], flags)
	if r == nil || !isText(args[0]) {
		return value.Value{}
	}
	return value.Bool(e.matches(r, args[0].Text))
}

// regexArgs compiles a pattern with flags, and returns nil if that fails. An invalid pattern makes the query fail,
// which helps its author more than an empty result.
func (e *Env) regexArgs(pattern, flags value.Value) *regex {
	if pattern.Kind != value.KindString || flags.Kind != value.KindString {
		return nil
	}
	r := e.regexFor(pattern.Text, flags.Text)
	if r.err != "" {
		e.Err = kg.Errorf(kg.QueryFailed, "%s", r.err)
		return nil
	}
	return r
}

// Replace implements REPLACE(text, pattern, replacement, flags). A pattern that matches the empty string is an error,
// as in XPath.
func Replace(e *Env, args []value.Value) value.Value {
	var r *regex
	if len(args) == 4 {
		r = e.regexArgs(args[1], args[3])
	} else {
		r = e.regexArgs(args[1], value.String(""))
	}
	a, by := args[0], args[2]
	if r == nil || !isText(a) || !isText(by) || r.re.MatchString("") {
		return value.Value{}
	}
	if int64(len(a.Text))*int64(r.size) > 1<<27 {
		e.Err = limit.Greedy("the text and the pattern of REPLACE are too long together")
		return value.Value{}
	}
	if len(by.Text) >= 256 && !e.Text(2*len(by.Text)) {
		return value.Value{}
	}
	repl, fixed, refs, ok := goReplacement(by.Text, r.re.NumSubexp())
	if !ok || !e.Work(len(a.Text)*r.size/256) {
		return value.Value{}
	}
	if refs > 0 && !e.Hold(16*(r.re.NumSubexp()+1)*r.size) { // every thread in Go's engine stores all groups
		return value.Value{}
	}
	if !e.replacement(r, a.Text, fixed, refs) {
		return value.Value{}
	}
	if refs == 0 {
		return alike(a, r.re.ReplaceAllLiteralString(a.Text, strings.ReplaceAll(repl, "$$", "$")))
	}
	return alike(a, r.re.ReplaceAllString(a.Text, repl))
}

// replacement accounts in advance for the memory that replacing the matches in s will take. The replacement string has
// fixed literal bytes and refs group references. If an estimate from the lengths alone is small, replacement uses it;
// otherwise, it counts the matches.
func (e *Env) replacement(r *regex, s string, fixed, refs int) bool {
	// assume a match at every position; the combined length of the groups is at most the text length
	most := int64(len(s)+1)*int64(fixed) + int64(len(s))*int64(refs+1)
	if most < 4096 {
		return e.Text(int(most))
	}
	matches, matched := int64(0), int64(0)
	if !e.Hold(len(s)) {
		return false
	}
	r.re.ReplaceAllStringFunc(s, func(m string) string {
		matches++
		matched += int64(len(m))
		return ""
	})
	size := int64(len(s)) - matched + matches*int64(fixed) + matched*int64(refs)
	if size > e.MaxText() {
		return e.Text(int(e.MaxText() + 1))
	}
	return e.Text(int(size)) && e.Hold(int(size)) // the engine's buffer grows
}

// goReplacement converts an XPath replacement ($1, \$, \\) to Go syntax (${1}, $$) and counts its literal bytes and
// group references.
func goReplacement(s string, groups int) (repl string, fixed, refs int, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (s[i+1] == '$' || s[i+1] == '\\'):
			i++
			if s[i] == '$' {
				b.WriteByte('$')
			}
			fixed++
			b.WriteByte(s[i])
		case c == '\\':
			return "", 0, 0, false
		case c == '$':
			j, n := i+1, 0
			for j < len(s) && s[j] >= '0' && s[j] <= '9' && (j == i+1 || n*10+int(s[j]-'0') <= groups) {
				n = n*10 + int(s[j]-'0')
				j++
			}
			if j == i+1 {
				return "", 0, 0, false
			}
			refs++
			b.WriteString("${" + s[i+1:j] + "}")
			i = j - 1
		default:
			fixed++
			b.WriteByte(c)
		}
	}
	return b.String(), fixed, refs, true
}
