package embedded

import (
	"cmp"
	"math"
	"strings"
)

// equal is the operator "=" (SPARQL 1.1, section 17.3): by value where both are of types we know, else by term; two different literals of which one has an
// unknown type or a broken text are an error.
func equal(a, b value) tri {
	if a.k == vNone || b.k == vNone {
		return triError
	}
	if a.n != 0 && a.n == b.n && a.k != vDouble && a.k != vFloat { // NaN is not equal to itself
		return triTrue
	}
	if !a.literal() || !b.literal() {
		return triOf(a.k == b.k && a.s == b.s)
	}
	if a.numeric() && b.numeric() {
		c, ok := compareNumeric(a, b)
		return triOf(ok && c == 0)
	}
	switch {
	case isTime(a.k) && a.k == b.k:
		if a.t.hasZone != b.t.hasZone && farApart(a.t, b.t) == 0 && a.k != vDateTime {
			return triError
		}
		return triOf(a.t.cmp(b.t) == 0)
	case a.k == b.k:
		return equalSameKind(a, b)
	case a.k == vLang || b.k == vLang: // a text with a language is never equal to a literal without
		return triFalse
	case a.k == vOther || b.k == vOther || a.k == vIll || b.k == vIll:
		return triError
	}
	return triFalse // of different types that we know, whose values have nothing in common
}

func equalSameKind(a, b value) tri {
	switch a.k {
	case vString:
		return triOf(a.s == b.s)
	case vLang:
		return triOf(a.s == b.s && a.tag == b.tag)
	case vBool:
		return triOf(a.num.n == b.num.n)
	case vDuration:
		return triOf(*a.d == *b.d)
	}
	if a.s == b.s && a.tag == b.tag {
		return triTrue
	}
	return triError
}

func isTime(k vkind) bool { return k >= vDateTime && k <= vYear }

// sameClock reports whether the difference of two kinds of time is defined: of equal kinds, and of dates with points in time.
func sameClock(a, b vkind) bool {
	return a == b || (a == vDateTime || a == vDate) && (b == vDateTime || b == vDate)
}

// farApart compares a moment with a zone and one without: they are in an order only when more than 14 hours apart (XSD 1.1 Part 2, section D.2.1).
func farApart(a, b *moment) int {
	d := a.seconds() - b.seconds()
	switch {
	case d > 14*3600:
		return 1
	case d < -14*3600:
		return -1
	}
	return 0
}

// compareNumeric compares numbers after promotion to the wider type; false when one is NaN.
func compareNumeric(a, b value) (int, bool) {
	if a.k <= vDec && b.k <= vDec {
		return a.num.cmp(b.num), true
	}
	x, y := a.float(), b.float()
	if a.k == vFloat && b.k <= vFloat || b.k == vFloat && a.k <= vFloat {
		x, y = float64(float32(x)), float64(float32(y))
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return 0, false
	}
	return cmp.Compare(x, y), true
}

// order compares two values for < and its kin; false when they have no order: that is an error of the expression.
// nan says that a NaN was in play: then every comparison is false.
func order(a, b value) (c int, nan, ok bool) {
	switch {
	case a.numeric() && b.numeric():
		c, ok = compareNumeric(a, b)
		return c, !ok, true
	case isTime(a.k) && a.k == b.k:
		if a.t.hasZone != b.t.hasZone && a.k != vDateTime {
			c = farApart(a.t, b.t)
			return c, false, c != 0
		}
		return a.t.cmp(b.t), false, true
	case a.k != b.k:
		return 0, false, false
	}
	switch a.k {
	case vString:
		return strings.Compare(a.s, b.s), false, true
	case vLang:
		return cmp.Or(strings.Compare(a.s, b.s), strings.Compare(a.tag, b.tag)), false, true
	case vBool:
		return cmp.Compare(a.num.n, b.num.n), false, true
	case vDuration:
		if a.d.months == 0 && b.d.months == 0 || a.d.seconds == b.d.seconds && a.d.nanos == b.d.nanos {
			return cmp.Or(cmp.Compare(a.d.months, b.d.months), cmp.Compare(a.d.seconds, b.d.seconds), cmp.Compare(a.d.nanos, b.d.nanos)), false, true
		}
	}
	return 0, false, false
}

// sortClass is the place of a kind in the order of ORDER BY (SPARQL 1.1, section 15.1): nothing, blank nodes, IRIs, literals. The order among literals that
// cannot be compared is ours: numbers, times, truth values, durations, strings, others.
func sortClass(k vkind) int {
	switch k {
	case vNone:
		return 0
	case vBlank:
		return 1
	case vIRI:
		return 2
	case vInt, vDec, vFloat, vDouble:
		return 3
	case vDateTime, vDate:
		return 4
	case vTime:
		return 5
	case vYear:
		return 6
	case vBool:
		return 7
	case vDuration:
		return 8
	case vString, vLang:
		return 9
	}
	return 10
}

// sortCompare is a total order of all values for ORDER BY, MIN and MAX.
func sortCompare(a, b value) int {
	ca, cb := sortClass(a.k), sortClass(b.k)
	if ca != cb {
		return cmp.Compare(ca, cb)
	}
	switch ca {
	case 0:
		return 0
	case 1, 2:
		return strings.Compare(a.s, b.s)
	case 3:
		c, ok := compareNumeric(a, b)
		if !ok { // NaN comes before all numbers
			return -cmp.Compare(boolInt(math.IsNaN(a.float())), boolInt(math.IsNaN(b.float())))
		}
		return c
	case 4, 5, 6:
		return a.t.cmp(b.t)
	case 7:
		return cmp.Compare(a.num.n, b.num.n)
	case 8:
		return cmp.Or(cmp.Compare(a.d.months, b.d.months), cmp.Compare(a.d.seconds, b.d.seconds), cmp.Compare(a.d.nanos, b.d.nanos))
	case 9:
		return cmp.Or(strings.Compare(a.s, b.s), strings.Compare(a.tag, b.tag))
	}
	return cmp.Or(strings.Compare(a.s, b.s), strings.Compare(a.tag, b.tag))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// arithmetic computes a op b for numbers, and + and - for times and durations. The difference of two times is a number of days (xsd:double), as in
// Blazegraph. What is undefined gives no value.
func arithmetic(op byte, a, b value) value {
	if !a.numeric() || !b.numeric() {
		return timeArithmetic(op, a, b)
	}
	k := max(a.k, b.k)
	if k <= vDec {
		return decimalArithmetic(op, a, b)
	}
	x, y := a.float(), b.float()
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
	if k == vFloat {
		return floatValue(f)
	}
	return doubleValue(f)
}

func floatValue(f float64) value { return value{k: vFloat, f: float64(float32(f)), tag: xsdFloat} }

func decimalArithmetic(op byte, a, b value) value {
	var d decimal
	var ok bool
	switch op {
	case '+':
		d, ok = a.num.add(b.num)
	case '-':
		d, ok = a.num.add(b.num.neg())
	case '*':
		d, ok = a.num.mul(b.num)
	case '/':
		d, ok = a.num.div(b.num)
		if ok {
			return decValue(d)
		}
	}
	if !ok {
		return value{}
	}
	if a.k == vInt && b.k == vInt {
		return intValue(d)
	}
	return decValue(d)
}

func timeArithmetic(op byte, a, b value) value {
	switch {
	case op == '-' && isTime(a.k) && isTime(b.k) && sameClock(a.k, b.k):
		secs := float64(a.t.seconds()-b.t.seconds()) + float64(a.t.nanos-b.t.nanos)/1e9
		return doubleValue(secs / 86400)
	case (op == '+' || op == '-') && (a.k == vDateTime || a.k == vDate || a.k == vTime) && b.k == vDuration:
		sign := int64(1)
		if op == '-' {
			sign = -1
		}
		if t, ok := a.t.plus(*b.d, sign); ok {
			return value{k: a.k, t: t, tag: a.tag}
		}
	case op == '+' && a.k == vDuration && (b.k == vDateTime || b.k == vDate || b.k == vTime):
		return timeArithmetic('+', b, a)
	}
	return value{}
}
