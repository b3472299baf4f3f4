package value

import (
	"cmp"
	"math"
	"strings"
)

// Equal implements the = operator (SPARQL 1.1, section 17.3). It compares by value if both types are known, and
// otherwise by term. Comparing two different literals is an error if either has an unknown type or an invalid lexical
// form.
func Equal(a, b Value) Truth {
	if a.Kind == KindNone || b.Kind == KindNone {
		return Error
	}
	if a.ID != 0 && a.ID == b.ID && a.Kind != KindDouble && a.Kind != KindFloat { // NaN is not equal to itself
		return True
	}
	if !a.IsLiteral() || !b.IsLiteral() {
		return TruthOf(a.Kind == b.Kind && a.Text == b.Text)
	}
	if a.IsNumeric() && b.IsNumeric() {
		c, ok := compareNumeric(a, b)
		return TruthOf(ok && c == 0)
	}
	switch {
	case IsTime(a.Kind) && a.Kind == b.Kind:
		if a.Time.HasZone != b.Time.HasZone && farApart(a.Time, b.Time) == 0 && a.Kind != KindDateTime {
			return Error
		}
		return TruthOf(a.Time.cmp(b.Time) == 0)
	case a.Kind == b.Kind:
		return equalSameKind(a, b)
	case a.Kind == KindLang || b.Kind == KindLang: // a string with a language tag never equals a literal without one
		return False
	case a.Kind == KindOther || b.Kind == KindOther || a.Kind == KindIll || b.Kind == KindIll:
		return Error
	}
	return False // the types are known and different, and have no values in common
}

func equalSameKind(a, b Value) Truth {
	switch a.Kind {
	case KindString:
		return TruthOf(a.Text == b.Text)
	case KindLang:
		return TruthOf(a.Text == b.Text && a.Tag == b.Tag)
	case KindBool:
		return TruthOf(a.Num.Digits == b.Num.Digits)
	case KindDuration:
		return TruthOf(*a.Duration == *b.Duration)
	}
	if a.Text == b.Text && a.Tag == b.Tag {
		return True
	}
	return Error
}

// IsTime reports whether k is a date-time, date, time or year.
func IsTime(k Kind) bool { return k >= KindDateTime && k <= KindYear }

// sameClock reports whether the difference between times of kinds a and b is defined. It is defined for equal kinds,
// and for any combination of dates and date-times.
func sameClock(a, b Kind) bool {
	return a == b || (a == KindDateTime || a == KindDate) && (b == KindDateTime || b == KindDate)
}

// farApart compares a moment that has a time zone with one that does not. They are ordered only if they are more than
// 14 hours apart (XSD 1.1 Part 2, section D.2.1).
func farApart(a, b *Moment) int {
	d := a.Seconds() - b.Seconds()
	switch {
	case d > 14*3600:
		return 1
	case d < -14*3600:
		return -1
	}
	return 0
}

// compareNumeric compares numbers after promotion to the wider type. It returns false if either is NaN.
func compareNumeric(a, b Value) (int, bool) {
	if a.Kind <= KindDecimal && b.Kind <= KindDecimal {
		return a.Num.Cmp(b.Num), true
	}
	x, y := a.AsFloat(), b.AsFloat()
	if a.Kind == KindFloat && b.Kind <= KindFloat || b.Kind == KindFloat && a.Kind <= KindFloat {
		x, y = float64(float32(x)), float64(float32(y))
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return 0, false
	}
	return cmp.Compare(x, y), true
}

// Compare compares two values for <, >, <= and >=. ok is false if they cannot be ordered, which is an error in the
// expression. nan is true if either is NaN, which makes every comparison false.
func Compare(a, b Value) (c int, nan, ok bool) {
	switch {
	case a.IsNumeric() && b.IsNumeric():
		c, ok = compareNumeric(a, b)
		return c, !ok, true
	case IsTime(a.Kind) && a.Kind == b.Kind:
		if a.Time.HasZone != b.Time.HasZone && a.Kind != KindDateTime {
			c = farApart(a.Time, b.Time)
			return c, false, c != 0
		}
		return a.Time.cmp(b.Time), false, true
	case a.Kind != b.Kind:
		return 0, false, false
	}
	switch a.Kind {
	case KindString:
		return strings.Compare(a.Text, b.Text), false, true
	case KindLang:
		return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Tag, b.Tag)), false, true
	case KindBool:
		return cmp.Compare(a.Num.Digits, b.Num.Digits), false, true
	case KindDuration:
		if a.Duration.Months == 0 && b.Duration.Months == 0 || a.Duration.Seconds == b.Duration.Seconds &&
			a.Duration.nanos == b.Duration.nanos {
			return cmp.Or(cmp.Compare(a.Duration.Months, b.Duration.Months), cmp.Compare(a.Duration.Seconds, b.Duration.Seconds),
				cmp.Compare(a.Duration.nanos, b.Duration.nanos)), false, true
		}
	}
	return 0, false, false
}

// SortClass returns the rank of a kind in ORDER BY (SPARQL 1.1, section 15.1): unbound, blank nodes, IRIs, literals.
// The order among literals that cannot be compared is our choice: numbers, times, booleans, durations, strings, others.
func SortClass(k Kind) int {
	switch k {
	case KindNone:
		return 0
	case KindBlank:
		return 1
	case KindIRI:
		return 2
	case KindInt, KindDecimal, KindFloat, KindDouble:
		return 3
	case KindDateTime, KindDate:
		return 4
	case KindTime:
		return 5
	case KindYear:
		return 6
	case KindBool:
		return 7
	case KindDuration:
		return 8
	case KindString, KindLang:
		return 9
	}
	return 10
}

// SortCompare compares values by a total order, for ORDER BY, MIN and MAX.
func SortCompare(a, b Value) int {
	ca, cb := SortClass(a.Kind), SortClass(b.Kind)
	if ca != cb {
		return cmp.Compare(ca, cb)
	}
	switch ca {
	case 0:
		return 0
	case 1, 2:
		return strings.Compare(a.Text, b.Text)
	case 3:
		c, ok := compareNumeric(a, b)
		if !ok { // NaN sorts before all numbers
			return -cmp.Compare(boolInt(math.IsNaN(a.AsFloat())), boolInt(math.IsNaN(b.AsFloat())))
		}
		return c
	case 4, 5, 6:
		return a.Time.cmp(b.Time)
	case 7:
		return cmp.Compare(a.Num.Digits, b.Num.Digits)
	case 8:
		return cmp.Or(cmp.Compare(a.Duration.Months, b.Duration.Months), cmp.Compare(a.Duration.Seconds, b.Duration.Seconds),
			cmp.Compare(a.Duration.nanos, b.Duration.nanos))
	case 9:
		return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Tag, b.Tag))
	}
	return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Tag, b.Tag))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Arithmetic computes a op b for numbers. For + and -, it also accepts times and durations. The difference between two
// times is a number of days (xsd:double), as in Blazegraph. The result of an undefined operation is the zero Value.
func Arithmetic(op byte, a, b Value) Value {
	if !a.IsNumeric() || !b.IsNumeric() {
		return timeArithmetic(op, a, b)
	}
	k := max(a.Kind, b.Kind)
	if k <= KindDecimal {
		return decimalArithmetic(op, a, b)
	}
	x, y := a.AsFloat(), b.AsFloat()
	var f float64
	switch op {
	case '+':
		f = x + y
	case '-':
		f = x - y
	case '*':
		f = x * y
	case '/':
		f = x / y
	}
	if k == KindFloat {
		return Float(f)
	}
	return Double(f)
}

// Float returns an xsd:float value.
func Float(f float64) Value { return Value{Kind: KindFloat, Float: float64(float32(f)), Tag: xsdFloat} }

func decimalArithmetic(op byte, a, b Value) Value {
	var d Decimal
	var ok bool
	switch op {
	case '+':
		d, ok = a.Num.Add(b.Num)
	case '-':
		d, ok = a.Num.Add(b.Num.Neg())
	case '*':
		d, ok = a.Num.Mul(b.Num)
	case '/':
		d, ok = a.Num.Div(b.Num)
		if ok {
			return Dec(d)
		}
	}
	if !ok {
		return Value{}
	}
	if a.Kind == KindInt && b.Kind == KindInt {
		return Int(d)
	}
	return Dec(d)
}

func timeArithmetic(op byte, a, b Value) Value {
	switch {
	case op == '-' && IsTime(a.Kind) && IsTime(b.Kind) && sameClock(a.Kind, b.Kind):
		secs := float64(a.Time.Seconds()-b.Time.Seconds()) + float64(a.Time.Nanos-b.Time.Nanos)/1e9
		return Double(secs / 86400)
	case (op == '+' || op == '-') && (a.Kind == KindDateTime || a.Kind == KindDate || a.Kind == KindTime) &&
		b.Kind == KindDuration:
		sign := int64(1)
		if op == '-' {
			sign = -1
		}
		if t, ok := a.Time.plus(*b.Duration, sign); ok {
			return Value{Kind: a.Kind, Time: t, Tag: a.Tag}
		}
	case op == '+' && a.Kind == KindDuration && (b.Kind == KindDateTime || b.Kind == KindDate || b.Kind == KindTime):
		return timeArithmetic('+', b, a)
	}
	return Value{}
}
