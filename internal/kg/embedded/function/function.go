package function

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// One is a function of one argument. If the argument has no value, the function is not called, and the result has no
// value either.
type One func(e *Env, a value.Value) value.Value

// Two is a function of two arguments; see [One].
type Two func(e *Env, a, b value.Value) value.Value

// N is a function of any number of arguments; see [One].
type N func(e *Env, args []value.Value) value.Value

// Unary returns the one-argument function with the given name, or nil if there is none. Names are as in SPARQL 1.1,
// section 17.4, in upper case.
func Unary(name string) One {
	switch name {
	case "STR":
		return Str
	case "LANG":
		return Lang
	case "DATATYPE":
		return fnDatatype
	case "IRI", "URI":
		return fnIRI
	case "ISIRI", "ISURI":
		return func(_ *Env, a value.Value) value.Value { return value.Bool(a.Kind == value.KindIRI) }
	case "ISBLANK":
		return func(_ *Env, a value.Value) value.Value { return value.Bool(a.Kind == value.KindBlank) }
	case "ISLITERAL":
		return func(_ *Env, a value.Value) value.Value { return value.Bool(a.IsLiteral()) }
	case "ISNUMERIC":
		return func(_ *Env, a value.Value) value.Value { return value.Bool(a.IsNumeric()) }
	case "ABS", "CEIL", "FLOOR", "ROUND":
		return func(_ *Env, a value.Value) value.Value { return fnRound(name, a) }
	case "STRLEN":
		return fnStrlen
	case "UCASE":
		return func(e *Env, a value.Value) value.Value { return mapText(e, a, upper) }
	case "LCASE":
		return func(e *Env, a value.Value) value.Value { return mapText(e, a, strings.ToLower) }
	case "ENCODE_FOR_URI":
		return fnEncode
	case "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ":
		return func(_ *Env, a value.Value) value.Value { return fnTimePart(name, a) }
	case "MD5", "SHA1", "SHA256", "SHA384", "SHA512":
		return func(e *Env, a value.Value) value.Value { return fnHash(e, name, a) }
	case "BNODE":
		return fnBnode
	}
	return nil
}

// Binary returns the two-argument function with the given name, or nil if there is none.
func Binary(name string) Two {
	switch name {
	case "LANGMATCHES":
		return fnLangMatches
	case "CONTAINS", "STRSTARTS", "STRENDS":
		return func(e *Env, a, b value.Value) value.Value { return fnTest(e, name, a, b) }
	case "STRBEFORE", "STRAFTER":
		return func(e *Env, a, b value.Value) value.Value { return fnCut(e, name, a, b) }
	case "STRLANG":
		return fnStrLang
	case "STRDT":
		return fnStrDT
	case "SAMETERM":
		return func(_ *Env, a, b value.Value) value.Value { return value.Bool(sameTerm(a, b)) }
	}
	return nil
}

func sameTerm(a, b value.Value) bool {
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return a.Term() == b.Term()
}

// Variadic returns the function with the given name, for functions that are neither unary nor binary, together with the
// minimum and maximum number of arguments (-1 if there is no maximum).
func Variadic(name string) (f N, least, most int) {
	switch name {
	case "CONCAT":
		return fnConcat, 0, -1
	case "SUBSTR":
		return fnSubstr, 2, 3
	case "NOW":
		return func(e *Env, _ []value.Value) value.Value {
			if e.now == nil {
				return value.Value{}
			}
			return value.Value{Kind: value.KindDateTime, Time: e.now, Tag: rdf.XSDDateTime}
		}, 0, 0
	case "RAND":
		return func(e *Env, _ []value.Value) value.Value {
			if e.random == nil {
				return value.Value{}
			}
			return value.Double(float64(e.random()>>11) / (1 << 53))
		}, 0, 0
	case "UUID", "STRUUID":
		return func(e *Env, _ []value.Value) value.Value { return fnUUID(e, name) }, 0, 0
	case "BNODE":
		return func(e *Env, _ []value.Value) value.Value { return e.freshBlank() }, 0, 0
	}
	return nil, 0, 0
}

// Str implements STR(term).
func Str(_ *Env, a value.Value) value.Value {
	switch {
	case a.Kind == value.KindIRI:
		return value.String(a.Text)
	case a.IsLiteral():
		return value.String(a.Lexical())
	}
	return value.Value{}
}

// Lang implements LANG(literal).
func Lang(_ *Env, a value.Value) value.Value {
	switch {
	case a.Kind == value.KindLang:
		return value.String(a.Tag)
	case a.IsLiteral():
		return value.String("")
	}
	return value.Value{}
}

func fnDatatype(_ *Env, a value.Value) value.Value {
	if !a.IsLiteral() {
		return value.Value{}
	}
	return value.IRI(a.Datatype())
}

// fnIRI returns an IRI. A string must be an absolute IRI unless the query has a base.
func fnIRI(e *Env, a value.Value) value.Value {
	switch a.Kind {
	case value.KindIRI:
		return a
	case value.KindString:
		// parsing and resolving create copies
		if len(a.Text) >= 256 && (!e.Text(len(a.Text)) || e.base != "" && !e.Hold(4*len(a.Text))) {
			return value.Value{}
		}
		return value.IRI(resolveIRI(e.base, a.Text))
	}
	return value.Value{}
}

func fnRound(name string, a value.Value) value.Value {
	switch a.Kind {
	case value.KindInt, value.KindDecimal:
		d := a.Num
		switch name {
		case "ABS":
			d = d.Abs()
		case "CEIL":
			d = d.ToInteger(value.RoundCeil)
		case "FLOOR":
			d = d.ToInteger(value.RoundFloor)
		case "ROUND":
			d = d.ToInteger(value.RoundHalfUp)
		}
		if a.Kind == value.KindInt {
			return value.Int(d)
		}
		return value.Dec(d)
	case value.KindFloat, value.KindDouble:
		f := a.Float
		switch name {
		case "ABS":
			f = math.Abs(f)
		case "CEIL":
			f = math.Ceil(f)
		case "FLOOR":
			f = math.Floor(f)
		case "ROUND":
			f = math.Floor(f + 0.5)
		}
		if a.Kind == value.KindFloat {
			return value.Float(f)
		}
		return value.Double(f)
	}
	return value.Value{}
}

// isText reports whether a value is a string, with or without a language tag.
func isText(a value.Value) bool { return a.Kind == value.KindString || a.Kind == value.KindLang }

// alike returns s as a string with a's language tag, if any.
func alike(a value.Value, s string) value.Value {
	if a.Kind == value.KindLang {
		return value.Value{Kind: value.KindLang, Text: s, Tag: a.Tag}
	}
	return value.String(s)
}

// compatible implements the argument compatibility rules for string functions (SPARQL 1.1, section 17.4.3.1.2).
func compatible(a, b value.Value) bool {
	return isText(a) && isText(b) && (b.Kind == value.KindString || a.Kind == value.KindLang && a.Tag == b.Tag)
}

func fnStrlen(e *Env, a value.Value) value.Value {
	if !isText(a) || !e.Read(len(a.Text)) {
		return value.Value{}
	}
	return value.SmallInt(int64(utf8.RuneCountInString(a.Text)))
}

// upper is like strings.ToUpper, but also handles ß, the one common letter whose upper case is two letters.
func upper(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "ß", "SS")) }

func mapText(e *Env, a value.Value, f func(string) string) value.Value {
	// f may copy the text, and its result may be 50% longer
	if !isText(a) || !e.Text(len(a.Text)) || len(a.Text) >= 256 && !e.Hold(len(a.Text)) {
		return value.Value{}
	}
	out := f(a.Text)
	if len(out) > len(a.Text) && !e.Text(len(out)) {
		return value.Value{}
	}
	return alike(a, out)
}

// fnEncode escapes all characters except unreserved ones (RFC 3986).
func fnEncode(e *Env, a value.Value) value.Value {
	if !isText(a) {
		return value.Value{}
	}
	size := len(a.Text)
	for i := 0; i < len(a.Text); i++ {
		if !unreserved(a.Text[i]) {
			size += 2
		}
	}
	if !e.Text(size) {
		return value.Value{}
	}
	var b strings.Builder
	b.Grow(size)
	for i := 0; i < len(a.Text); i++ {
		c := a.Text[i]
		if unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		}
	}
	return value.String(b.String())
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0
}

func fnTimePart(name string, a value.Value) value.Value {
	if a.Kind == value.KindYear && (name == "YEAR" || name == "MONTH" && a.Tag == value.XSDGYearMonth) {
		a.Kind = value.KindDate
	}
	date, clock := false, false
	switch a.Kind {
	case value.KindDateTime:
		date, clock = true, true
	case value.KindDate:
		date = true
	case value.KindTime:
		clock = true
	default:
		return value.Value{}
	}
	t := a.Time
	switch name {
	case "TZ":
		return value.String(t.ZoneString())
	case "TIMEZONE":
		if !t.HasZone {
			return value.Value{}
		}
		return value.Value{Kind: value.KindDuration, Duration: &value.Duration{Seconds: int64(t.Zone) * 60},
			Tag: value.XSDDayTime}
	}
	switch {
	case date && name == "YEAR":
		return value.SmallInt(t.Year)
	case date && name == "MONTH":
		return value.SmallInt(int64(t.Month))
	case date && name == "DAY":
		return value.SmallInt(int64(t.Day))
	case clock && name == "HOURS":
		return value.SmallInt(int64(t.Hour))
	case clock && name == "MINUTES":
		return value.SmallInt(int64(t.Minute))
	case clock && name == "SECONDS":
		return value.Dec(value.Decimal{Digits: int64(t.Second)*1e9 + int64(t.Nanos), Scale: 9}.Shorten())
	}
	return value.Value{}
}

func fnHash(e *Env, name string, a value.Value) value.Value {
	if a.Kind != value.KindString || !e.Read(len(a.Text)*4) || len(a.Text) >= 256 && !e.Hold(len(a.Text)) {
		return value.Value{}
	}
	var sum []byte
	switch name {
	case "MD5":
		s := md5.Sum([]byte(a.Text))
		sum = s[:]
	case "SHA1":
		s := sha1.Sum([]byte(a.Text))
		sum = s[:]
	case "SHA256":
		s := sha256.Sum256([]byte(a.Text))
		sum = s[:]
	case "SHA384":
		s := sha512.Sum384([]byte(a.Text))
		sum = s[:]
	case "SHA512":
		s := sha512.Sum512([]byte(a.Text))
		sum = s[:]
	}
	return value.String(hex.EncodeToString(sum))
}

// fnBnode returns one blank node for each string and solution.
func fnBnode(e *Env, a value.Value) value.Value {
	if a.Kind != value.KindString {
		return value.Value{}
	}
	return e.NamedBlank(a.Text)
}

func fnLangMatches(_ *Env, a, b value.Value) value.Value {
	if a.Kind != value.KindString || b.Kind != value.KindString {
		return value.Value{}
	}
	return value.Bool(langMatches(a.Text, b.Text))
}

// langMatches implements basic filtering (RFC 4647).
func langMatches(tag, pattern string) bool {
	if pattern == "*" {
		return tag != ""
	}
	return len(tag) >= len(pattern) && strings.EqualFold(tag[:len(pattern)], pattern) && (len(tag) == len(pattern) ||
		tag[len(pattern)] == '-') && pattern != ""
}

func fnTest(e *Env, name string, a, b value.Value) value.Value {
	if !compatible(a, b) || !e.Read(len(a.Text)) {
		return value.Value{}
	}
	switch name {
	case "CONTAINS":
		return value.Bool(strings.Contains(a.Text, b.Text))
	case "STRSTARTS":
		return value.Bool(strings.HasPrefix(a.Text, b.Text))
	}
	return value.Bool(strings.HasSuffix(a.Text, b.Text))
}

func fnCut(e *Env, name string, a, b value.Value) value.Value {
	if !compatible(a, b) || !e.Read(len(a.Text)) {
		return value.Value{}
	}
	before, after, found := strings.Cut(a.Text, b.Text)
	switch {
	case !found:
		return value.String("")
	case name == "STRBEFORE":
		return alike(a, a.Part(before))
	}
	return alike(a, a.Part(after))
}

func fnStrLang(e *Env, a, b value.Value) value.Value {
	if a.Kind != value.KindString || b.Kind != value.KindString || b.Text == "" {
		return value.Value{}
	}
	if !e.Text(len(b.Text)) {
		return value.Value{}
	}
	return value.Value{Kind: value.KindLang, Text: a.Text, Tag: strings.ToLower(b.Text)}
}

func fnStrDT(_ *Env, a, b value.Value) value.Value {
	if a.Kind != value.KindString || b.Kind != value.KindIRI || b.Text == value.LangString {
		return value.Value{}
	}
	return value.Of(rdf.Typed(a.Text, b.Text))
}

func fnConcat(e *Env, args []value.Value) value.Value {
	total, lang := 0, ""
	for i, a := range args {
		if !isText(a) {
			return value.Value{}
		}
		total += len(a.Text)
		if i == 0 && a.Kind == value.KindLang {
			lang = a.Tag
		} else if a.Kind != value.KindLang || a.Tag != lang {
			lang = ""
		}
	}
	if !e.Text(total) {
		return value.Value{}
	}
	var b strings.Builder
	b.Grow(total)
	for _, a := range args {
		b.WriteString(a.Text)
	}
	if lang != "" {
		return value.Value{Kind: value.KindLang, Text: b.String(), Tag: lang}
	}
	return value.String(b.String())
}

// fnSubstr counts characters from 1 and rounds its arguments, like fn:substring.
func fnSubstr(e *Env, args []value.Value) value.Value {
	a := args[0]
	if !isText(a) || !args[1].IsNumeric() || !e.Read(len(a.Text)) {
		return value.Value{}
	}
	from := math.Floor(args[1].AsFloat() + 0.5)
	to := math.Inf(1)
	if len(args) == 3 {
		if !args[2].IsNumeric() {
			return value.Value{}
		}
		to = from + math.Floor(args[2].AsFloat()+0.5)
	}
	pos, start, end := 1.0, -1, -1
	for i := range a.Text {
		if start < 0 && pos >= from && pos < to {
			start = i
		}
		if start >= 0 && !(pos < to) {
			end = i
			break
		}
		pos++
	}
	if start < 0 {
		return alike(a, "")
	}
	if end < 0 {
		end = len(a.Text)
	}
	return alike(a, a.Part(a.Text[start:end]))
}

func fnUUID(e *Env, name string) value.Value {
	if e.random == nil {
		return value.Value{}
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], e.random())
	binary.BigEndian.PutUint64(b[8:], e.random())
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // RFC 9562, version 4
	h := hex.EncodeToString(b[:])
	s := h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	if name == "UUID" {
		return value.IRI("urn:uuid:" + s)
	}
	return value.String(s)
}
