package embedded

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// divScale is the number of decimal places of a quotient that does not end earlier, rounded half up: what Blazegraph gives.
const divScale = 20

// maxDigits bounds the length of a decimal number; a longer result is an error of the expression.
const maxDigits = 4000

// decimal is an exact decimal number n·10^-scale. Small ones are in n, others in big.
type decimal struct {
	n     int64
	big   *big.Int // when not nil, instead of n
	scale int32
}

func intDecimal(n int64) decimal { return decimal{n: n} }

func (d decimal) int() *big.Int {
	if d.big != nil {
		return d.big
	}
	return big.NewInt(d.n)
}

// fromBig makes a decimal, small if it can be; ok is false when it is too long.
func fromBig(b *big.Int, scale int32) (decimal, bool) {
	if b.IsInt64() {
		return decimal{n: b.Int64(), scale: scale}, true
	}
	return decimal{big: b, scale: scale}, b.BitLen() < maxDigits*10/3
}

func pow10(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// parseDecimal reads the lexical form of xsd:decimal and xsd:integer: sign, digits, point.
func parseDecimal(s string) (decimal, bool) {
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
			return decimal{}, false
		}
	}
	if digits == 0 || digits > maxDigits {
		return decimal{}, false
	}
	if digits <= 18 {
		if neg {
			n = -n
		}
		return decimal{n: n, scale: scale}, true
	}
	b, ok := new(big.Int).SetString(strings.Replace(t, ".", "", 1), 10)
	if !ok {
		return decimal{}, false
	}
	if neg {
		b.Neg(b)
	}
	return fromBig(b, scale)
}

// String gives the shortest form without exponent: "2", "-0.5".
func (d decimal) String() string {
	s := ""
	if d.big != nil {
		s = d.big.String()
	} else {
		s = strconv.FormatInt(d.n, 10)
	}
	if d.scale == 0 {
		return s
	}
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	if pad := int(d.scale) + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	whole, frac := s[:len(s)-int(d.scale)], strings.TrimRight(s[len(s)-int(d.scale):], "0")
	if frac != "" {
		whole += "." + frac
	}
	if neg && whole != "0" {
		whole = "-" + whole
	}
	return whole
}

func (d decimal) float() float64 {
	if d.big == nil && d.scale == 0 {
		return float64(d.n)
	}
	if d.big == nil && d.scale < int32(len(exactPowers)) && absInt(d.n) < 1<<53 {
		return float64(d.n) / exactPowers[d.scale] // both are exact, so the quotient is rounded once
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

// exactPowers are the powers of ten that a double holds exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

func (d decimal) sign() int {
	if d.big != nil {
		return d.big.Sign()
	}
	switch {
	case d.n < 0:
		return -1
	case d.n > 0:
		return 1
	}
	return 0
}

// align brings two numbers to the same scale.
func align(a, b decimal) (*big.Int, *big.Int, int32) {
	x, y := a.int(), b.int()
	if a.scale < b.scale {
		return new(big.Int).Mul(x, pow10(b.scale-a.scale)), y, b.scale
	}
	if b.scale < a.scale {
		return x, new(big.Int).Mul(y, pow10(a.scale-b.scale)), a.scale
	}
	return x, y, a.scale
}

func (d decimal) cmp(e decimal) int {
	if d.big == nil && e.big == nil && d.scale == e.scale {
		switch {
		case d.n < e.n:
			return -1
		case d.n > e.n:
			return 1
		}
		return 0
	}
	x, y, _ := align(d, e)
	return x.Cmp(y)
}

func (d decimal) add(e decimal) (decimal, bool) {
	if d.big == nil && e.big == nil && d.scale == e.scale {
		if s := d.n + e.n; (s > d.n) == (e.n > 0) {
			return decimal{n: s, scale: d.scale}, true
		}
	}
	x, y, scale := align(d, e)
	return fromBig(new(big.Int).Add(x, y), scale)
}

func (d decimal) neg() decimal {
	if d.big == nil && d.n != math.MinInt64 {
		return decimal{n: -d.n, scale: d.scale}
	}
	r, _ := fromBig(new(big.Int).Neg(d.int()), d.scale)
	return r
}

func (d decimal) abs() decimal {
	if d.sign() < 0 {
		return d.neg()
	}
	return d
}

func (d decimal) mul(e decimal) (decimal, bool) {
	if d.big == nil && e.big == nil {
		hi, lo := bits.Mul64(uint64(absInt(d.n)), uint64(absInt(e.n)))
		if hi == 0 && lo < math.MaxInt64 {
			n := int64(lo)
			if (d.n < 0) != (e.n < 0) {
				n = -n
			}
			return decimal{n: n, scale: d.scale + e.scale}.shorten(), true
		}
	}
	r, ok := fromBig(new(big.Int).Mul(d.int(), e.int()), d.scale+e.scale)
	return r, ok && r.scale <= maxDigits
}

func absInt(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// shorten drops zeros at the end of a small fraction, so that sums and products stay small.
func (d decimal) shorten() decimal {
	for d.big == nil && d.scale > 0 && d.n%10 == 0 {
		d.n /= 10
		d.scale--
	}
	return d
}

// div divides, to divScale places rounded half up; false for a zero divisor.
func (d decimal) div(e decimal) (decimal, bool) {
	if e.sign() == 0 {
		return decimal{}, false
	}
	scale := max(int32(divScale), d.scale)
	// d/e = dn·10^(e.scale-d.scale)/en; one more place for rounding
	x := new(big.Int).Mul(d.int(), pow10(scale+e.scale-d.scale+1))
	q := x.Quo(x, e.int())
	return roundLast(q, scale)
}

// roundLast rounds away the last digit, half away from zero.
func roundLast(q *big.Int, scale int32) (decimal, bool) {
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

// rounding modes of toInteger.
type rounding int

const (
	roundFloor rounding = iota
	roundCeil
	roundHalfUp // half towards positive infinity: fn:round
	roundTrunc
)

// toInteger rounds to a whole number.
func (d decimal) toInteger(mode rounding) decimal {
	if d.scale == 0 {
		return d
	}
	p := pow10(d.scale)
	switch mode {
	case roundTrunc:
		r, _ := fromBig(new(big.Int).Quo(d.int(), p), 0)
		return r
	case roundHalfUp:
		x := new(big.Int).Mul(d.int(), big.NewInt(2))
		x.Add(x, p)
		r, _ := fromBig(floorDiv(x, new(big.Int).Mul(p, big.NewInt(2))), 0)
		return r
	case roundCeil:
		r, _ := fromBig(floorDiv(new(big.Int).Neg(d.int()), p), 0)
		return r.neg()
	}
	r, _ := fromBig(floorDiv(d.int(), p), 0)
	return r
}

func floorDiv(a, b *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(a, b, new(big.Int)) // Euclidean, b > 0: the floor
	_ = m
	return q
}

// formatDouble gives the canonical form of xsd:double: 1.0E0, 1.5E-7, INF, NaN.
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

// parseDouble reads the lexical form of xsd:double and xsd:float.
func parseDouble(s string, size int) (float64, bool) {
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
	for i := 0; i < len(s); i++ { // ParseFloat takes hexadecimal, underscores and words too
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
