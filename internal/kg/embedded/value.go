package embedded

import (
	"math"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// id numbers a term. Numbers below localBit are terms of the graph's dictionary, numbers with localBit set are terms that one query made
// (see locals); 0 is no term: an unbound variable.
type id uint32

const localBit id = 1 << 31

// vkind tells what a value is to expressions.
type vkind uint8

const (
	vNone     vkind = iota // unbound, or an error
	vIRI                   // s
	vBlank                 // s
	vString                // s
	vLang                  // s, tag the language
	vBool                  // num.n
	vInt                   // num; tag the datatype (xsd:integer or one derived from it)
	vDec                   // num
	vFloat                 // f
	vDouble                // f
	vDateTime              // t
	vDate                  // t
	vTime                  // t
	vYear                  // t: xsd:gYear and xsd:gYearMonth
	vDuration              // d; tag the datatype
	vOther                 // a datatype that we do not know: s, tag
	vIll                   // a known datatype, but the text is not of its form: s, tag
)

// value is a term ready for computing. A value that came from a term has its number n, or its text in s; a computed one gets its text when it becomes a term.
type value struct {
	k   vkind
	n   id
	s   string
	tag string
	num decimal
	f   float64
	t   *moment
	d   *duration
}

func (v value) literal() bool { return v.k >= vString }
func (v value) numeric() bool { return v.k >= vInt && v.k <= vDouble }

func stringValue(s string) value { return value{k: vString, s: s} }
func iriValue(s string) value    { return value{k: vIRI, s: s} }
func doubleValue(f float64) value {
	return value{k: vDouble, f: f, tag: rdf.XSDDouble}
}
func decValue(d decimal) value { return value{k: vDec, num: d, tag: rdf.XSDDecimal} }
func intValue(d decimal) value { return value{k: vInt, num: d, tag: rdf.XSDInteger} }
func smallInt(n int64) value   { return intValue(intDecimal(n)) }
func boolValue(b bool) value {
	v := value{k: vBool, tag: rdf.XSDBoolean}
	if b {
		v.num.n = 1
	}
	return v
}

// Names of datatypes that only this package needs.
const (
	xsdTime     = rdf.XSD + "time"
	xsdGYear    = rdf.XSD + "gYear"
	xsdGYearMon = rdf.XSD + "gYearMonth"
	xsdDuration = rdf.XSD + "duration"
	xsdFloat    = rdf.XSD + "float"
	xsdDayTime  = rdf.XSD + "dayTimeDuration"
	xsdYearMon  = rdf.XSD + "yearMonthDuration"
	rdfLangStr  = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
)

// kindOfTag tells the kind of literals with a datatype or language (in the form of dict.tags).
func kindOfTag(tag string) vkind {
	if tag == "" {
		return vString
	}
	if tag[0] == '@' {
		return vLang
	}
	name, ok := strings.CutPrefix(tag, rdf.XSD)
	if !ok {
		return vOther
	}
	switch name {
	case "string":
		return vString
	case "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger",
		"unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte":
		return vInt
	case "decimal":
		return vDec
	case "float":
		return vFloat
	case "double":
		return vDouble
	case "boolean":
		return vBool
	case "dateTime":
		return vDateTime
	case "date":
		return vDate
	case "time":
		return vTime
	case "gYear", "gYearMonth":
		return vYear
	case "duration", "dayTimeDuration", "yearMonthDuration":
		return vDuration
	}
	return vOther
}

// literalValue makes the value of a literal of kind k.
func literalValue(k vkind, text, tag string) value {
	v := value{k: k, s: text, tag: tag}
	ok := true
	switch k {
	case vLang:
		v.tag = tag[1:]
	case vInt:
		v.num, ok = parseDecimal(strings.Trim(text, " \t\r\n"))
		ok = ok && v.num.scale == 0 && !strings.Contains(text, ".") && inRange(v.num, tag)
	case vDec:
		v.num, ok = parseDecimal(strings.Trim(text, " \t\r\n"))
	case vFloat:
		v.f, ok = parseDouble(strings.Trim(text, " \t\r\n"), 32)
		v.f = float64(float32(v.f))
	case vDouble:
		v.f, ok = parseDouble(strings.Trim(text, " \t\r\n"), 64)
	case vBool:
		switch text {
		case "true", "1":
			v.num.n = 1
		case "false", "0":
		default:
			ok = false
		}
	case vDateTime:
		v.t, ok = parseDateTime(text)
	case vDate:
		v.t, ok = parseDate(text)
	case vTime:
		v.t, ok = parseTime(text)
	case vYear:
		v.t, ok = parseGregorian(text, tag == xsdGYearMon)
	case vDuration:
		var d duration
		d, ok = parseDuration(text)
		v.d = &d
	}
	if !ok {
		return value{k: vIll, s: text, tag: tag}
	}
	return v
}

// inRange checks the bounds of the types derived from xsd:integer (XSD 1.1 Part 2, section 3.4).
func inRange(d decimal, tag string) bool {
	within := func(lo, hi int64) bool { return d.cmp(intDecimal(lo)) >= 0 && d.cmp(intDecimal(hi)) <= 0 }
	switch tag[len(rdf.XSD):] {
	case "long":
		return within(math.MinInt64, math.MaxInt64)
	case "int":
		return within(math.MinInt32, math.MaxInt32)
	case "short":
		return within(math.MinInt16, math.MaxInt16)
	case "byte":
		return within(math.MinInt8, math.MaxInt8)
	case "nonNegativeInteger":
		return d.sign() >= 0
	case "positiveInteger":
		return d.sign() > 0
	case "nonPositiveInteger":
		return d.sign() <= 0
	case "negativeInteger":
		return d.sign() < 0
	case "unsignedInt":
		return within(0, math.MaxUint32)
	case "unsignedShort":
		return within(0, math.MaxUint16)
	case "unsignedByte":
		return within(0, math.MaxUint8)
	case "unsignedLong":
		limit, _ := parseDecimal("18446744073709551615")
		return d.sign() >= 0 && d.cmp(limit) <= 0
	}
	return true
}

// valueOf makes the value of a term that is not in a dictionary.
func valueOf(t rdf.Term) value {
	switch t.Kind {
	case rdf.IRIKind:
		return iriValue(t.Value)
	case rdf.BlankKind:
		return value{k: vBlank, s: t.Value}
	case rdf.LiteralKind:
		tag := tagText(t)
		return literalValue(kindOfTag(tag), t.Value, tag)
	}
	return value{}
}

// lexical is the literal's text: as it was, or the canonical form of a computed value.
func (v value) lexical() string {
	if v.s != "" {
		return v.s
	}
	switch v.k {
	case vBool:
		if v.num.n != 0 {
			return "true"
		}
		return "false"
	case vInt, vDec:
		return v.num.String()
	case vFloat:
		return formatDouble(v.f, 32)
	case vDouble:
		return formatDouble(v.f, 64)
	case vDateTime:
		return v.t.dateString() + "T" + v.t.timeString() + v.t.zoneString()
	case vDate:
		return v.t.dateString() + v.t.zoneString()
	case vTime:
		return v.t.timeString() + v.t.zoneString()
	case vDuration:
		return v.d.String()
	}
	return v.s
}

// term makes the RDF term of a value; the zero Term of vNone.
func (v value) term() rdf.Term {
	switch v.k {
	case vNone:
		return rdf.Term{}
	case vIRI:
		return rdf.IRI(v.s)
	case vBlank:
		return rdf.Blank(v.s)
	case vString:
		return rdf.String(v.s)
	case vLang:
		return rdf.LangString(v.s, v.tag)
	}
	return rdf.Typed(v.lexical(), v.tag)
}

// datatype is the IRI of a literal's datatype.
func (v value) datatype() string {
	switch v.k {
	case vString:
		return rdf.XSDString
	case vLang:
		return rdfLangStr
	}
	return v.tag
}

// tri is a truth value of SPARQL's three-valued logic.
type tri uint8

const (
	triFalse tri = iota
	triTrue
	triError
)

func triOf(b bool) tri {
	if b {
		return triTrue
	}
	return triFalse
}

// ebv is the effective boolean value (SPARQL 1.1, section 17.2.2).
func (v value) ebv() tri {
	switch v.k {
	case vBool:
		return triOf(v.num.n != 0)
	case vString, vLang:
		return triOf(v.s != "")
	case vInt, vDec:
		return triOf(v.num.sign() != 0)
	case vFloat, vDouble:
		return triOf(v.f != 0 && !math.IsNaN(v.f))
	case vIll: // an ill-typed boolean or number is false
		switch k := kindOfTag(v.tag); {
		case k == vBool || k >= vInt && k <= vDouble:
			return triFalse
		}
	}
	return triError
}

// float is a number as a double.
func (v value) float() float64 {
	if v.k == vInt || v.k == vDec {
		return v.num.float()
	}
	return v.f
}

// tagText is the entry of tags for a literal's datatype or language.
func tagText(t rdf.Term) string {
	if t.Lang != "" {
		return "@" + t.Lang
	}
	return t.Datatype
}

// part is a piece s of a's text. A small piece of a large text that nothing else keeps is copied, so that it does not keep the whole.
func (a value) part(s string) string {
	if a.n == 0 && len(a.s) > 4*len(s)+256 {
		return strings.Clone(s)
	}
	return s
}

// own is the memory in bytes that a value keeps besides itself and the graph's and the query's terms.
func (a value) own() int {
	n := 0
	if a.n == 0 {
		n = len(a.s) + len(a.s)/8 // the allocator rounds up
		if a.k == vLang || a.k == vOther || a.k == vIll {
			n += len(a.tag)
		}
	}
	if a.num.big != nil {
		n += 32 + a.num.big.BitLen()/8
	}
	if a.t != nil {
		n += 64
	}
	if a.d != nil {
		n += 48
	}
	return n
}
