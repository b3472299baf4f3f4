package value

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// DivScale is the maximum number of decimal places in a quotient, which is rounded half up, as in Blazegraph.
const DivScale = 20

// maxDigits is the maximum number of digits in a decimal number. A longer result is an error in the expression.
const maxDigits = 4000

// Decimal is the exact decimal number Digits·10^-Scale, or Big·10^-Scale if Digits would overflow.
type Decimal struct {
	Digits int64
	Big    *big.Int // if not nil, used instead of Digits
	Scale  int32
}

// IntDecimal returns an integer as a decimal.
func IntDecimal(n int64) Decimal { return Decimal{Digits: n} }

// Int returns the unscaled value as a big integer.
func (d Decimal) Int() *big.Int {
	if d.Big != nil {
		return d.Big
	}
	return big.NewInt(d.Digits)
}

// fromBig returns a decimal, in compact form if possible. It returns false if the number has too many digits.
func fromBig(b *big.Int, scale int32) (Decimal, bool) {
	if b.IsInt64() {
		return Decimal{Digits: b.Int64(), Scale: scale}, true
	}
	return Decimal{Big: b, Scale: scale}, b.BitLen() < maxDigits*10/3
}

// Pow10 returns 10 to the power of n.
func Pow10(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// ParseDecimal parses the lexical form of xsd:decimal and xsd:integer: a sign, digits and a decimal point.
func ParseDecimal(s string) (Decimal, bool) {
	t, neg := s, false
	if t != "" && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		t = t[1:]
	}
	var n int64
	var scale int32
	digits, point := 0, false
	for i := 0; i < len(t); i++ {
		c := t[i]
		switch {
		case c == '.' && !point:
			point = true
		case c >= '0' && c <= '9':
			digits++
			if point {
				scale++
			}
			if digits <= 18 {
				n = n*10 + int64(c-'0')
			}
		default:
			return Decimal{}, false
		}
	}
	if digits == 0 || digits > maxDigits {
		return Decimal{}, false
	}
	if digits <= 18 {
		if neg {
			n = -n
		}
		return Decimal{Digits: n, Scale: scale}, true
	}
	b, ok := new(big.Int).SetString(strings.Replace(t, ".", "", 1), 10)
	if !ok {
		return Decimal{}, false
	}
	if neg {
		b.Neg(b)
	}
	return fromBig(b, scale)
}

// String returns the shortest form without an exponent, such as "2" or "-0.5".
func (d Decimal) String() string {
	s := ""
	if d.Big != nil {
		s = d.Big.String()
	} else {
		s = strconv.FormatInt(d.Digits, 10)
	}
	if d.Scale == 0 {
		return s
	}
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	if pad := int(d.Scale) + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	whole, frac := s[:len(s)-int(d.Scale)], strings.TrimRight(s[len(s)-int(d.Scale):], "0")
	if frac != "" {
		whole += "." + frac
	}
	if neg && whole != "0" {
		whole = "-" + whole
	}
	return whole
}

// AsFloat returns the nearest double.
func (d Decimal) AsFloat() float64 {
	if d.Big == nil && d.Scale == 0 {
		return float64(d.Digits)
	}
	if d.Big == nil && d.Scale < int32(len(exactPowers)) && AbsInt(d.Digits) < 1<<53 {
		return float64(d.Digits) / exactPowers[d.Scale] // both are exact, so only the quotient is rounded
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

// exactPowers are the powers of ten that a double represents exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

func (d Decimal) sign() int {
	if d.Big != nil {
		return d.Big.Sign()
	}
	switch {
	case d.Digits < 0:
		return -1
	case d.Digits > 0:
		return 1
	}
	return 0
}

// align brings two numbers to the same scale.
func align(a, b Decimal) (*big.Int, *big.Int, int32) {
	x, y := a.Int(), b.Int()
	if a.Scale < b.Scale {
		return new(big.Int).Mul(x, Pow10(b.Scale-a.Scale)), y, b.Scale
	}
	if b.Scale < a.Scale {
		return x, new(big.Int).Mul(y, Pow10(a.Scale-b.Scale)), a.Scale
	}
	return x, y, a.Scale
}

// Cmp compares two decimals. It returns -1, 0 or 1.
func (d Decimal) Cmp(e Decimal) int {
	if d.Big == nil && e.Big == nil && d.Scale == e.Scale {
		switch {
		case d.Digits < e.Digits:
			return -1
		case d.Digits > e.Digits:
			return 1
		}
		return 0
	}
	x, y, _ := align(d, e)
	return x.Cmp(y)
}

// Add returns d + e. It returns false if the result has too many digits.
func (d Decimal) Add(e Decimal) (Decimal, bool) {
	if d.Big == nil && e.Big == nil && d.Scale == e.Scale {
		if s := d.Digits + e.Digits; (s > d.Digits) == (e.Digits > 0) {
			return Decimal{Digits: s, Scale: d.Scale}, true
		}
	}
	x, y, scale := align(d, e)
	return fromBig(new(big.Int).Add(x, y), scale)
}

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	if d.Big == nil && d.Digits != math.MinInt64 {
		return Decimal{Digits: -d.Digits, Scale: d.Scale}
	}
	r, _ := fromBig(new(big.Int).Neg(d.Int()), d.Scale)
	return r
}

// Abs returns the absolute value of d.
func (d Decimal) Abs() Decimal {
	if d.sign() < 0 {
		return d.Neg()
	}
	return d
}

// Mul returns the product. It returns false if the result has too many digits.
func (d Decimal) Mul(e Decimal) (Decimal, bool) {
	if d.Big == nil && e.Big == nil {
		hi, lo := bits.Mul64(uint64(AbsInt(d.Digits)), uint64(AbsInt(e.Digits)))
		if hi == 0 && lo < math.MaxInt64 {
			n := int64(lo)
			if (d.Digits < 0) != (e.Digits < 0) {
				n = -n
			}
			return Decimal{Digits: n, Scale: d.Scale + e.Scale}.Shorten(), true
		}
	}
	r, ok := fromBig(new(big.Int).Mul(d.Int(), e.Int()), d.Scale+e.Scale)
	return r, ok && r.Scale <= maxDigits
}

// AbsInt returns the absolute value of n.
func AbsInt(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// Shorten drops trailing zeros from a small fraction, so that sums and products stay small.
func (d Decimal) Shorten() Decimal {
	for d.Big == nil && d.Scale > 0 && d.Digits%10 == 0 {
		d.Digits /= 10
		d.Scale--
	}
	return d
}

// Div returns d / e, rounded half up to [DivScale] decimal places. It returns false if the divisor is zero.
func (d Decimal) Div(e Decimal) (Decimal, bool) {
	if e.sign() == 0 {
		return Decimal{}, false
	}
	scale := max(int32(DivScale), d.Scale)
	// d/e = dn·10^(e.scale-d.scale)/en; compute one more place for rounding
	x := new(big.Int).Mul(d.Int(), Pow10(scale+e.Scale-d.Scale+1))
	q := x.Quo(x, e.Int())
	return roundLast(q, scale)
}

// roundLast drops the last digit, rounding half away from zero.
func roundLast(q *big.Int, scale int32) (Decimal, bool) {
	five := big.NewInt(5)
	if q.Sign() < 0 {
		five.Neg(five)
	}
	q.Add(q, five)
	q.Quo(q, big.NewInt(10))
	ten, rest := big.NewInt(10), new(big.Int)
	for scale > 0 {
		t, r := new(big.Int).QuoRem(q, ten, rest)
		if r.Sign() != 0 {
			break
		}
		q = t
		scale--
	}
	return fromBig(q, scale)
}

// rounding is a rounding mode for ToInteger.
type rounding int

// The rounding modes.
const (
	RoundFloor rounding = iota
	RoundCeil
	RoundHalfUp // halves toward positive infinity, like fn:round
	RoundTrunc
)

// ToInteger rounds to an integer.
func (d Decimal) ToInteger(mode rounding) Decimal {
	if d.Scale == 0 {
		return d
	}
	p := Pow10(d.Scale)
	switch mode {
	case RoundTrunc:
		r, _ := fromBig(new(big.Int).Quo(d.Int(), p), 0)
		return r
	case RoundHalfUp:
		x := new(big.Int).Mul(d.Int(), big.NewInt(2))
		x.Add(x, p)
		r, _ := fromBig(floorDiv(x, new(big.Int).Mul(p, big.NewInt(2))), 0)
		return r
	case RoundCeil:
		r, _ := fromBig(floorDiv(new(big.Int).Neg(d.Int()), p), 0)
		return r.Neg()
	}
	r, _ := fromBig(floorDiv(d.Int(), p), 0)
	return r
}

func floorDiv(a, b *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(a, b, new(big.Int)) // Euclidean division; since b > 0, q is the floor
	_ = m
	return q
}

// formatDouble returns the canonical form of an xsd:double, such as 1.0E0, 1.5E-7, INF or NaN.
func formatDouble(f float64, size int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	s := strconv.FormatFloat(f, 'E', -1, size)
	mantissa, exp, _ := strings.Cut(s, "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exp)
	return mantissa + "E" + strconv.Itoa(n)
}

// ParseDouble parses the lexical form of xsd:double and xsd:float.
func ParseDouble(s string, size int) (float64, bool) {
	switch s {
	case "INF", "+INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	case "":
		return 0, false
	}
	for i := 0; i < len(s); i++ { // strconv.ParseFloat also accepts hexadecimal, underscores and words such as infinity
		c := s[i]
		if (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, size)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}
