// Package value implements computation with RDF terms according to SPARQL 1.1: it parses literals, compares and orders
// values, and does arithmetic on numbers, times and durations (SPARQL 1.1, section 17, and XML Schema Definition
// Language 1.1 Part 2: Datatypes).
package value

import (
	"math"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// ID identifies a term. IDs below [LocalBit] identify terms in the graph's dictionary. IDs with [LocalBit] set identify
// terms that a query created and that are not in the graph. 0 means no term (an unbound variable).
type ID uint32

// LocalBit is set in the IDs of terms that a query created.
const LocalBit ID = 1 << 31

// Kind is the kind of value that a term has in expressions.
type Kind uint8

const (
	KindNone     Kind = iota // unbound, or an error
	KindIRI                  // Text
	KindBlank                // Text
	KindString               // Text
	KindLang                 // Text; Tag is the language
	KindBool                 // Num.Digits
	KindInt                  // Num; Tag is the datatype (xsd:integer or one derived from it)
	KindDecimal              // Num
	KindFloat                // Float
	KindDouble               // Float
	KindDateTime             // Time
	KindDate                 // Time
	KindTime                 // Time
	KindYear                 // Time: xsd:gYear and xsd:gYearMonth
	KindDuration             // Duration; Tag is the datatype
	KindOther                // an unknown datatype: Text, Tag
	KindIll                  // a known datatype with an invalid lexical form: Text, Tag
)

// Value is a term in a form suitable for computation. The value of a term has an ID if the term has one; its Text may
// be set in addition to the ID. A computed value is formatted as text only when it becomes a term.
type Value struct {
	Kind     Kind
	ID       ID
	Text     string
	Tag      string
	Num      Decimal
	Float    float64
	Time     *Moment
	Duration *Duration
}

// IsLiteral reports whether the value is a literal.
func (v Value) IsLiteral() bool { return v.Kind >= KindString }

// IsSomeValue reports whether the term represents an unknown value: a blank node or one of the IRIs that the query
// service uses instead.
func (v Value) IsSomeValue() bool {
	return v.Kind == KindBlank || v.Kind == KindIRI && strings.HasPrefix(v.Text,
		"http://www.wikidata.org/.well-known/genid/")
}

// IsNumeric reports whether the value is a number.
func (v Value) IsNumeric() bool { return v.Kind >= KindInt && v.Kind <= KindDouble }

// String returns a plain string value.
func String(s string) Value { return Value{Kind: KindString, Text: s} }

// IRI returns an IRI value.
func IRI(s string) Value { return Value{Kind: KindIRI, Text: s} }

// Double returns an xsd:double value.
func Double(f float64) Value {
	return Value{Kind: KindDouble, Float: f, Tag: rdf.XSDDouble}
}

// Dec returns an xsd:decimal value.
func Dec(d Decimal) Value { return Value{Kind: KindDecimal, Num: d, Tag: rdf.XSDDecimal} }

// Int returns an xsd:integer value. d must not have a fraction.
func Int(d Decimal) Value { return Value{Kind: KindInt, Num: d, Tag: rdf.XSDInteger} }

// SmallInt returns an xsd:integer value.
func SmallInt(n int64) Value { return Int(IntDecimal(n)) }

// Bool returns an xsd:boolean value.
func Bool(b bool) Value {
	v := Value{Kind: KindBool, Tag: rdf.XSDBoolean}
	if b {
		v.Num.Digits = 1
	}
	return v
}

// Names of datatypes that only this package needs.
const (
	XSDTime       = rdf.XSD + "time"
	xsdGYear      = rdf.XSD + "gYear"
	XSDGYearMonth = rdf.XSD + "gYearMonth"
	xsdDuration   = rdf.XSD + "duration"
	xsdFloat      = rdf.XSD + "float"
	XSDDayTime    = rdf.XSD + "dayTimeDuration"
	XSDYearMonth  = rdf.XSD + "yearMonthDuration"
	LangString    = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
)

// KindOf returns the kind of a literal with the given tag; see [TagOf].
func KindOf(tag string) Kind {
	if tag == "" {
		return KindString
	}
	if tag[0] == '@' {
		return KindLang
	}
	name, ok := strings.CutPrefix(tag, rdf.XSD)
	if !ok {
		return KindOther
	}
	switch name {
	case "string":
		return KindString
	case "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
		"negativeInteger",
		"unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte":
		return KindInt
	case "decimal":
		return KindDecimal
	case "float":
		return KindFloat
	case "double":
		return KindDouble
	case "boolean":
		return KindBool
	case "dateTime":
		return KindDateTime
	case "date":
		return KindDate
	case "time":
		return KindTime
	case "gYear", "gYearMonth":
		return KindYear
	case "duration", "dayTimeDuration", "yearMonthDuration":
		return KindDuration
	}
	return KindOther
}

// Literal returns the value of a literal of kind k.
func Literal(k Kind, text, tag string) Value {
	v := Value{Kind: k, Text: text, Tag: tag}
	ok := true
	switch k {
	case KindLang:
		v.Tag = tag[1:]
	case KindInt:
		v.Num, ok = ParseDecimal(strings.Trim(text, " \t\r\n"))
		ok = ok && v.Num.Scale == 0 && !strings.Contains(text, ".") && InRange(v.Num, tag)
	case KindDecimal:
		v.Num, ok = ParseDecimal(strings.Trim(text, " \t\r\n"))
	case KindFloat:
		v.Float, ok = ParseDouble(strings.Trim(text, " \t\r\n"), 32)
		v.Float = float64(float32(v.Float))
	case KindDouble:
		v.Float, ok = ParseDouble(strings.Trim(text, " \t\r\n"), 64)
	case KindBool:
		switch text {
		case "true", "1":
			v.Num.Digits = 1
		case "false", "0":
		default:
			ok = false
		}
	case KindDateTime:
		v.Time, ok = parseDateTime(text)
	case KindDate:
		v.Time, ok = ParseDate(text)
	case KindTime:
		v.Time, ok = parseTime(text)
	case KindYear:
		v.Time, ok = parseGregorian(text, tag == XSDGYearMonth)
	case KindDuration:
		var d Duration
		d, ok = parseDuration(text)
		v.Duration = &d
	}
	if !ok {
		return Value{Kind: KindIll, Text: text, Tag: tag}
	}
	return v
}

// InRange reports whether d is in the range of the type, which is derived from xsd:integer (XSD 1.1 Part 2, section
// 3.4).
func InRange(d Decimal, tag string) bool {
	within := func(lo, hi int64) bool { return d.Cmp(IntDecimal(lo)) >= 0 && d.Cmp(IntDecimal(hi)) <= 0 }
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
		limit, _ := ParseDecimal("18446744073709551615")
		return d.sign() >= 0 && d.Cmp(limit) <= 0
	}
	return true
}

// Of returns the value of a term that is not in a dictionary.
func Of(t rdf.Term) Value {
	switch t.Kind {
	case rdf.IRIKind:
		return IRI(t.Value)
	case rdf.BlankKind:
		return Value{Kind: KindBlank, Text: t.Value}
	case rdf.LiteralKind:
		tag := TagOf(t)
		return Literal(KindOf(tag), t.Value, tag)
	}
	return Value{}
}

// Lexical returns a literal's text as read, or the canonical form of a computed value.
func (v Value) Lexical() string {
	if v.Text != "" {
		return v.Text
	}
	switch v.Kind {
	case KindBool:
		if v.Num.Digits != 0 {
			return "true"
		}
		return "false"
	case KindInt, KindDecimal:
		return v.Num.String()
	case KindFloat:
		return formatDouble(v.Float, 32)
	case KindDouble:
		return formatDouble(v.Float, 64)
	case KindDateTime:
		return v.Time.dateString() + "T" + v.Time.timeString() + v.Time.ZoneString()
	case KindDate:
		return v.Time.dateString() + v.Time.ZoneString()
	case KindTime:
		return v.Time.timeString() + v.Time.ZoneString()
	case KindDuration:
		return v.Duration.String()
	}
	return v.Text
}

// Term returns the RDF term of a value, or the zero Term for KindNone.
func (v Value) Term() rdf.Term {
	switch v.Kind {
	case KindNone:
		return rdf.Term{}
	case KindIRI:
		return rdf.IRI(v.Text)
	case KindBlank:
		return rdf.Blank(v.Text)
	case KindString:
		return rdf.String(v.Text)
	case KindLang:
		return rdf.LangString(v.Text, v.Tag)
	}
	return rdf.Typed(v.Lexical(), v.Tag)
}

// Datatype returns the IRI of a literal's datatype.
func (v Value) Datatype() string {
	switch v.Kind {
	case KindString:
		return rdf.XSDString
	case KindLang:
		return LangString
	}
	return v.Tag
}

// Truth is a truth value in SPARQL's three-valued logic.
type Truth uint8

// The truth values. Error is the value of an expression that has no truth value.
const (
	False Truth = iota
	True
	Error
)

// TruthOf returns True or False.
func TruthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Truth returns the effective boolean value (SPARQL 1.1, section 17.2.2).
func (v Value) Truth() Truth {
	switch v.Kind {
	case KindBool:
		return TruthOf(v.Num.Digits != 0)
	case KindString, KindLang:
		return TruthOf(v.Text != "")
	case KindInt, KindDecimal:
		return TruthOf(v.Num.sign() != 0)
	case KindFloat, KindDouble:
		return TruthOf(v.Float != 0 && !math.IsNaN(v.Float))
	case KindIll: // an ill-typed boolean or number is false
		switch k := KindOf(v.Tag); {
		case k == KindBool || k >= KindInt && k <= KindDouble:
			return False
		}
	}
	return Error
}

// AsFloat returns a number as a double.
func (v Value) AsFloat() float64 {
	if v.Kind == KindInt || v.Kind == KindDecimal {
		return v.Num.AsFloat()
	}
	return v.Float
}

// TagOf returns a literal's tag: its datatype or, after an "@", its language. Dictionaries use the same form.
func TagOf(t rdf.Term) string {
	if t.Lang != "" {
		return "@" + t.Lang
	}
	return t.Datatype
}

// Part returns s, which must be part of a's text. It copies s if the text is much longer and belongs to no term, so
// that s does not keep the whole text in memory.
func (a Value) Part(s string) string {
	if a.ID == 0 && len(a.Text) > 4*len(s)+256 {
		return strings.Clone(s)
	}
	return s
}

// Own returns the number of bytes that a value uses in addition to the Value itself, excluding memory that it shares
// with the terms of the graph and the query.
func (a Value) Own() int {
	n := 0
	if a.ID == 0 {
		n = len(a.Text) + len(a.Text)/8 // the allocator rounds up
		if a.Kind == KindLang || a.Kind == KindOther || a.Kind == KindIll {
			n += len(a.Tag)
		}
	}
	if a.Num.Big != nil {
		n += 32 + a.Num.Big.BitLen()/8
	}
	if a.Time != nil {
		n += 64
	}
	if a.Duration != nil {
		n += 48
	}
	return n
}
