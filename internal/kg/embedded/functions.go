package embedded

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

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// fn1, fn2 and fnN are functions whose arguments are values: an argument without value makes the result one, before they are called.
type (
	fn1 func(ex *exec, a value) value
	fn2 func(ex *exec, a, b value) value
	fnN func(ex *exec, args []value) value
)

// builtin1 returns the function of one argument with a name of SPARQL 1.1, section 17.4, in upper case; nil when there is none.
func builtin1(name string) fn1 {
	switch name {
	case "STR":
		return fnStr
	case "LANG":
		return fnLang
	case "DATATYPE":
		return fnDatatype
	case "IRI", "URI":
		return fnIRI
	case "ISIRI", "ISURI":
		return func(_ *exec, a value) value { return boolValue(a.k == vIRI) }
	case "ISBLANK":
		return func(_ *exec, a value) value { return boolValue(a.k == vBlank) }
	case "ISLITERAL":
		return func(_ *exec, a value) value { return boolValue(a.literal()) }
	case "ISNUMERIC":
		return func(_ *exec, a value) value { return boolValue(a.numeric()) }
	case "ABS", "CEIL", "FLOOR", "ROUND":
		return func(_ *exec, a value) value { return fnRound(name, a) }
	case "STRLEN":
		return fnStrlen
	case "UCASE":
		return func(ex *exec, a value) value { return mapText(ex, a, upper) }
	case "LCASE":
		return func(ex *exec, a value) value { return mapText(ex, a, strings.ToLower) }
	case "ENCODE_FOR_URI":
		return fnEncode
	case "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ":
		return func(_ *exec, a value) value { return fnTimePart(name, a) }
	case "MD5", "SHA1", "SHA256", "SHA384", "SHA512":
		return func(ex *exec, a value) value { return fnHash(ex, name, a) }
	case "BNODE":
		return fnBnode
	}
	return nil
}

// builtin2 returns the function of two arguments with a name, nil when there is none.
func builtin2(name string) fn2 {
	switch name {
	case "LANGMATCHES":
		return fnLangMatches
	case "CONTAINS", "STRSTARTS", "STRENDS":
		return func(ex *exec, a, b value) value { return fnTest(ex, name, a, b) }
	case "STRBEFORE", "STRAFTER":
		return func(ex *exec, a, b value) value { return fnCut(ex, name, a, b) }
	case "STRLANG":
		return fnStrLang
	case "STRDT":
		return fnStrDT
	case "SAMETERM":
		return func(_ *exec, a, b value) value { return boolValue(sameTerm(a, b)) }
	}
	return nil
}

func sameTerm(a, b value) bool {
	if a.n != 0 && b.n != 0 {
		return a.n == b.n
	}
	return a.term() == b.term()
}

// builtinN returns the functions of other numbers of arguments, with the least and greatest number (-1: any).
func builtinN(name string) (f fnN, least, most int) {
	switch name {
	case "CONCAT":
		return fnConcat, 0, -1
	case "SUBSTR":
		return fnSubstr, 2, 3
	case "NOW":
		return func(ex *exec, _ []value) value {
			if ex.now == nil {
				return value{}
			}
			return value{k: vDateTime, t: ex.now, tag: rdf.XSDDateTime}
		}, 0, 0
	case "RAND":
		return func(ex *exec, _ []value) value {
			if ex.g.opts.Random == nil {
				return value{}
			}
			return doubleValue(float64(ex.g.opts.Random()>>11) / (1 << 53))
		}, 0, 0
	case "UUID", "STRUUID":
		return func(ex *exec, _ []value) value { return fnUUID(ex, name) }, 0, 0
	case "BNODE":
		return func(ex *exec, _ []value) value { return ex.freshBlank() }, 0, 0
	}
	return nil, 0, 0
}

func (ex *exec) freshBlank() value {
	ex.blanks++
	return value{k: vBlank, s: "b" + intDecimal(int64(ex.blanks)).String()}
}

func fnStr(_ *exec, a value) value {
	switch {
	case a.k == vIRI:
		return stringValue(a.s)
	case a.literal():
		return stringValue(a.lexical())
	}
	return value{}
}

func fnLang(_ *exec, a value) value {
	switch {
	case a.k == vLang:
		return stringValue(a.tag)
	case a.literal():
		return stringValue("")
	}
	return value{}
}

func fnDatatype(_ *exec, a value) value {
	if !a.literal() {
		return value{}
	}
	return iriValue(a.datatype())
}

// fnIRI makes an IRI; the text must be absolute, for there is no base at this point.
func fnIRI(ex *exec, a value) value {
	switch a.k {
	case vIRI:
		return a
	case vString:
		if len(a.s) >= 256 && (!ex.text(len(a.s)) || ex.plan.base != "" && !ex.hold(4*len(a.s))) { // parsing and resolving make copies
			return value{}
		}
		return iriValue(resolveIRI(ex.plan.base, a.s))
	}
	return value{}
}

func fnRound(name string, a value) value {
	switch a.k {
	case vInt, vDec:
		d := a.num
		switch name {
		case "ABS":
			d = d.abs()
		case "CEIL":
			d = d.toInteger(roundCeil)
		case "FLOOR":
			d = d.toInteger(roundFloor)
		case "ROUND":
			d = d.toInteger(roundHalfUp)
		}
		if a.k == vInt {
			return intValue(d)
		}
		return decValue(d)
	case vFloat, vDouble:
		f := a.f
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
		if a.k == vFloat {
			return floatValue(f)
		}
		return doubleValue(f)
	}
	return value{}
}

// isText reports whether a value is a string, with a language or without.
func isText(a value) bool { return a.k == vString || a.k == vLang }

// alike makes a text with the language of a.
func alike(a value, s string) value {
	if a.k == vLang {
		return value{k: vLang, s: s, tag: a.tag}
	}
	return stringValue(s)
}

// compatible is the rule for the arguments of string functions (SPARQL 1.1, section 17.4.3.1.2).
func compatible(a, b value) bool {
	return isText(a) && isText(b) && (b.k == vString || a.k == vLang && a.tag == b.tag)
}

func fnStrlen(ex *exec, a value) value {
	if !isText(a) || !ex.read(len(a.s)) {
		return value{}
	}
	return smallInt(int64(utf8.RuneCountInString(a.s)))
}

// upper is strings.ToUpper with the one letter whose upper case is two letters that occurs in common words.
func upper(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "ß", "SS")) }

func mapText(ex *exec, a value, f func(string) string) value {
	if !isText(a) || !ex.text(len(a.s)) || len(a.s) >= 256 && !ex.hold(len(a.s)) { // f may make a copy on its way, and a result half as long again
		return value{}
	}
	out := f(a.s)
	if len(out) > len(a.s) && !ex.text(len(out)) {
		return value{}
	}
	return alike(a, out)
}

// fnEncode escapes all but unreserved characters (RFC 3986).
func fnEncode(ex *exec, a value) value {
	if !isText(a) {
		return value{}
	}
	size := len(a.s)
	for i := 0; i < len(a.s); i++ {
		if !unreserved(a.s[i]) {
			size += 2
		}
	}
	if !ex.text(size) {
		return value{}
	}
	var b strings.Builder
	b.Grow(size)
	for i := 0; i < len(a.s); i++ {
		c := a.s[i]
		if unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		}
	}
	return stringValue(b.String())
}

func unreserved(c byte) bool { return isAlnum(c) || strings.IndexByte("-_.~", c) >= 0 }

func fnTimePart(name string, a value) value {
	if a.k == vYear && (name == "YEAR" || name == "MONTH" && a.tag == xsdGYearMon) {
		a.k = vDate
	}
	date, clock := a.k == vDateTime || a.k == vDate, a.k == vDateTime || a.k == vTime
	switch {
	case name == "YEAR" && date:
		return smallInt(a.t.year)
	case name == "MONTH" && date:
		return smallInt(int64(a.t.month))
	case name == "DAY" && date:
		return smallInt(int64(a.t.day))
	case name == "HOURS" && clock:
		return smallInt(int64(a.t.hour))
	case name == "MINUTES" && clock:
		return smallInt(int64(a.t.minute))
	case name == "SECONDS" && clock:
		return decValue(decimal{n: int64(a.t.secnd)*1e9 + int64(a.t.nanos), scale: 9}.shorten())
	case name == "TZ" && (date || clock):
		return stringValue(a.t.zoneString())
	case name == "TIMEZONE" && (date || clock) && a.t.hasZone:
		return value{k: vDuration, d: &duration{seconds: int64(a.t.zone) * 60}, tag: xsdDayTime}
	}
	return value{}
}

func fnHash(ex *exec, name string, a value) value {
	if a.k != vString || !ex.read(len(a.s)*4) || len(a.s) >= 256 && !ex.hold(len(a.s)) {
		return value{}
	}
	var sum []byte
	switch name {
	case "MD5":
		s := md5.Sum([]byte(a.s))
		sum = s[:]
	case "SHA1":
		s := sha1.Sum([]byte(a.s))
		sum = s[:]
	case "SHA256":
		s := sha256.Sum256([]byte(a.s))
		sum = s[:]
	case "SHA384":
		s := sha512.Sum384([]byte(a.s))
		sum = s[:]
	case "SHA512":
		s := sha512.Sum512([]byte(a.s))
		sum = s[:]
	}
	return stringValue(hex.EncodeToString(sum))
}

// fnBnode makes the same blank node for the same text within one solution; we give one node a text and solution number.
func fnBnode(ex *exec, a value) value {
	if a.k != vString {
		return value{}
	}
	return ex.namedBlank(a.s)
}

func fnLangMatches(_ *exec, a, b value) value {
	if a.k != vString || b.k != vString {
		return value{}
	}
	return boolValue(langMatches(a.s, b.s))
}

// langMatches is RFC 4647's basic filtering.
func langMatches(tag, pattern string) bool {
	if pattern == "*" {
		return tag != ""
	}
	return len(tag) >= len(pattern) && strings.EqualFold(tag[:len(pattern)], pattern) && (len(tag) == len(pattern) || tag[len(pattern)] == '-') && pattern != ""
}

func fnTest(ex *exec, name string, a, b value) value {
	if !compatible(a, b) || !ex.read(len(a.s)) {
		return value{}
	}
	switch name {
	case "CONTAINS":
		return boolValue(strings.Contains(a.s, b.s))
	case "STRSTARTS":
		return boolValue(strings.HasPrefix(a.s, b.s))
	}
	return boolValue(strings.HasSuffix(a.s, b.s))
}

func fnCut(ex *exec, name string, a, b value) value {
	if !compatible(a, b) || !ex.read(len(a.s)) {
		return value{}
	}
	before, after, found := strings.Cut(a.s, b.s)
	switch {
	case !found:
		return stringValue("")
	case name == "STRBEFORE":
		return alike(a, a.part(before))
	}
	return alike(a, a.part(after))
}

func fnStrLang(ex *exec, a, b value) value {
	if a.k != vString || b.k != vString || b.s == "" {
		return value{}
	}
	if !ex.text(len(b.s)) {
		return value{}
	}
	return value{k: vLang, s: a.s, tag: strings.ToLower(b.s)}
}

func fnStrDT(_ *exec, a, b value) value {
	if a.k != vString || b.k != vIRI || b.s == rdfLangStr {
		return value{}
	}
	return valueOf(rdf.Typed(a.s, b.s))
}

func fnConcat(ex *exec, args []value) value {
	total, lang := 0, ""
	for i, a := range args {
		if !isText(a) {
			return value{}
		}
		total += len(a.s)
		if i == 0 && a.k == vLang {
			lang = a.tag
		} else if a.k != vLang || a.tag != lang {
			lang = ""
		}
	}
	if !ex.text(total) {
		return value{}
	}
	var b strings.Builder
	b.Grow(total)
	for _, a := range args {
		b.WriteString(a.s)
	}
	if lang != "" {
		return value{k: vLang, s: b.String(), tag: lang}
	}
	return stringValue(b.String())
}

// fnSubstr counts characters from 1 and rounds its numbers like fn:substring.
func fnSubstr(ex *exec, args []value) value {
	a := args[0]
	if !isText(a) || !args[1].numeric() || !ex.read(len(a.s)) {
		return value{}
	}
	from := math.Floor(args[1].float() + 0.5)
	to := math.Inf(1)
	if len(args) == 3 {
		if !args[2].numeric() {
			return value{}
		}
		to = from + math.Floor(args[2].float()+0.5)
	}
	pos, start, end := 1.0, -1, -1
	for i := range a.s {
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
		end = len(a.s)
	}
	return alike(a, a.part(a.s[start:end]))
}

func fnUUID(ex *exec, name string) value {
	if ex.g.opts.Random == nil {
		return value{}
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], ex.g.opts.Random())
	binary.BigEndian.PutUint64(b[8:], ex.g.opts.Random())
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // RFC 9562, version 4
	h := hex.EncodeToString(b[:])
	s := h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	if name == "UUID" {
		return iriValue("urn:uuid:" + s)
	}
	return stringValue(s)
}
