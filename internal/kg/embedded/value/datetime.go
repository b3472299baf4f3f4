package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Moment is a point in time in the proleptic Gregorian calendar, in its own time zone. It represents xsd:dateTime,
// xsd:date (no time of day) and xsd:time (no date). Years may be far outside the range 0 to 9999. Year 0 is 1 BC (XSD
// 1.1).
type Moment struct {
	Year                 int64
	Month, Day           int
	Hour, Minute, Second int
	Nanos                int
	Zone                 int // minutes east of UTC
	HasZone              bool
}

// maxYear keeps seconds within the range of int64.
const maxYear = 200_000_000_000

func parseDateTime(s string) (*Moment, bool) {
	m := &Moment{}
	rest, ok := m.readDate(s)
	if !ok || rest == "" || rest[0] != 'T' {
		return nil, false
	}
	rest, ok = m.readTime(rest[1:])
	if !ok || !m.readZone(rest) {
		return nil, false
	}
	return m, true
}

// ParseDate parses an xsd:date.
func ParseDate(s string) (*Moment, bool) {
	m := &Moment{}
	rest, ok := m.readDate(s)
	if !ok || !m.readZone(rest) {
		return nil, false
	}
	return m, true
}

// parseTime parses an xsd:time as that time on 1972-12-31, the day that XSD uses to compare times. A time has no date,
// so 24:00:00 is the same value as 00:00:00 (XSD 1.1 Part 2, section 3.3.8 and timeLexicalMap).
func parseTime(s string) (*Moment, bool) {
	m := &Moment{Year: 1972, Month: 12, Day: 31}
	rest, ok := m.readTime(s)
	if !ok || !m.readZone(rest) {
		return nil, false
	}
	m.Year, m.Month, m.Day = 1972, 12, 31
	return m, true
}

// parseGregorian parses an xsd:gYear or xsd:gYearMonth as the first day of the period.
func parseGregorian(s string, withMonth bool) (*Moment, bool) {
	m := &Moment{Month: 1, Day: 1}
	year, rest, ok := readYear(s)
	m.Year = year
	if ok && withMonth {
		if len(rest) < 3 || rest[0] != '-' {
			return nil, false
		}
		m.Month, ok = digits2(rest[1:])
		rest = rest[3:]
	}
	if !ok || m.Month < 1 || m.Month > 12 || !m.readZone(rest) {
		return nil, false
	}
	return m, true
}

func readYear(s string) (int64, string, bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	start := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i-start < 4 || i-start > 12 {
		return 0, "", false
	}
	y, err := strconv.ParseInt(s[:i], 10, 64)
	return y, s[i:], err == nil && y >= -maxYear && y <= maxYear
}

func digits2(s string) (int, bool) {
	if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

func (m *Moment) readDate(s string) (string, bool) {
	year, rest, ok := readYear(s)
	if !ok || len(rest) < 6 || rest[0] != '-' || rest[3] != '-' {
		return "", false
	}
	var ok1, ok2 bool
	m.Year = year
	m.Month, ok1 = digits2(rest[1:])
	m.Day, ok2 = digits2(rest[4:])
	return rest[6:], ok1 && ok2 && m.Month >= 1 && m.Month <= 12 && m.Day >= 1 && m.Day <= DaysIn(year, m.Month)
}

func (m *Moment) readTime(s string) (string, bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return "", false
	}
	var ok1, ok2, ok3 bool
	m.Hour, ok1 = digits2(s)
	m.Minute, ok2 = digits2(s[3:])
	m.Second, ok3 = digits2(s[6:])
	if !ok1 || !ok2 || !ok3 || m.Hour > 24 || m.Minute > 59 || m.Second > 59 {
		return "", false
	}
	s = s[8:]
	if s != "" && s[0] == '.' {
		i, scale := 1, 100_000_000
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			m.Nanos += int(s[i]-'0') * scale
			scale /= 10
		}
		if i == 1 {
			return "", false
		}
		s = s[i:]
	}
	if m.Hour == 24 { // the end of a day is the start of the next
		if m.Minute != 0 || m.Second != 0 || m.Nanos != 0 {
			return "", false
		}
		m.Hour = 0
		m.SetDays(DaysFromCivil(m.Year, m.Month, m.Day) + 1)
	}
	return s, true
}

func (m *Moment) readZone(s string) bool {
	switch {
	case s == "":
		return true
	case s == "Z":
		m.HasZone = true
		return true
	case len(s) == 6 && (s[0] == '+' || s[0] == '-') && s[3] == ':':
		h, ok1 := digits2(s[1:])
		n, ok2 := digits2(s[4:])
		if !ok1 || !ok2 || n > 59 || h > 14 || h == 14 && n > 0 {
			return false
		}
		m.Zone, m.HasZone = h*60+n, true
		if s[0] == '-' {
			m.Zone = -m.Zone
		}
		return true
	}
	return false
}

// DaysIn returns the number of days in a month.
func DaysIn(year int64, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// DaysFromCivil returns the number of days from 1970-01-01 to a date in the proleptic Gregorian calendar. The algorithm
// is H. Hinnant's.
func DaysFromCivil(y int64, month, day int) int64 {
	if month <= 2 {
		y--
	}
	era := floorDiv64(y, 400)
	yoe := y - era*400
	doy := int64((153*((month+9)%12)+2)/5 + day - 1)
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// SetDays sets the date given the number of days since 1970-01-01.
func (m *Moment) SetDays(z int64) {
	z += 719468
	era := floorDiv64(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	m.Day = int(doy - (153*mp+2)/5 + 1)
	m.Month = int(mp + 3)
	if mp >= 10 {
		m.Month = int(mp - 9)
	}
	m.Year = yoe + era*400
	if m.Month <= 2 {
		m.Year++
	}
}

func floorDiv64(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Seconds returns the number of seconds since 1970-01-01 in UTC. A moment without a zone is treated as UTC.
func (m *Moment) Seconds() int64 {
	return DaysFromCivil(m.Year, m.Month, m.Day)*86400 + int64(m.Hour*3600+m.Minute*60+m.Second) - int64(m.Zone*60)
}

func (m *Moment) cmp(o *Moment) int {
	a, b := m.Seconds(), o.Seconds()
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case m.Nanos < o.Nanos:
		return -1
	case m.Nanos > o.Nanos:
		return 1
	}
	return 0
}

// plus returns the moment shifted first by the months in d and then by its seconds and nanoseconds. It returns false if
// the result is out of range.
func (m *Moment) plus(d Duration, sign int64) (*Moment, bool) {
	out := *m
	if AbsInt(d.Months) > maxYear*12 || AbsInt(d.Seconds) > math.MaxInt64/4 {
		return nil, false
	}
	total := m.Year*12 + int64(m.Month-1) + sign*d.Months
	out.Year, out.Month = floorDiv64(total, 12), int(total-floorDiv64(total, 12)*12)+1
	if AbsInt(out.Year) > maxYear {
		return nil, false
	}
	out.Day = min(m.Day, DaysIn(out.Year, out.Month))
	nanos := int64(m.Nanos) + sign*int64(d.nanos)
	secs := DaysFromCivil(out.Year, out.Month, out.Day)*86400 + int64(m.Hour*3600+m.Minute*60+m.Second) + sign*d.Seconds +
		floorDiv64(nanos, 1e9)
	out.Nanos = int(nanos - floorDiv64(nanos, 1e9)*1e9)
	days := floorDiv64(secs, 86400)
	out.SetDays(days)
	rest := int(secs - days*86400)
	out.Hour, out.Minute, out.Second = rest/3600, rest/60%60, rest%60
	return &out, AbsInt(out.Year) <= maxYear
}

// ZoneString returns the time zone in lexical form: Z, +01:00, or "".
func (m *Moment) ZoneString() string {
	switch {
	case !m.HasZone:
		return ""
	case m.Zone == 0:
		return "Z"
	case m.Zone < 0:
		return fmt.Sprintf("-%02d:%02d", -m.Zone/60, -m.Zone%60)
	}
	return fmt.Sprintf("+%02d:%02d", m.Zone/60, m.Zone%60)
}

func (m *Moment) yearString() string {
	if m.Year < 0 {
		return fmt.Sprintf("-%04d", -m.Year)
	}
	return fmt.Sprintf("%04d", m.Year)
}

func (m *Moment) dateString() string {
	return fmt.Sprintf("%s-%02d-%02d", m.yearString(), m.Month, m.Day)
}

func (m *Moment) timeString() string {
	s := fmt.Sprintf("%02d:%02d:%02d", m.Hour, m.Minute, m.Second)
	if m.Nanos != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%09d", m.Nanos), "0")
	}
	return s
}

// MomentOf converts a time to a moment in UTC with millisecond precision.
func MomentOf(t time.Time) *Moment {
	t = t.UTC().Truncate(time.Millisecond)
	return &Moment{Year: int64(t.Year()), Month: int(t.Month()), Day: t.Day(), Hour: t.Hour(), Minute: t.Minute(),
		Second: t.Second(),
		Nanos:  t.Nanosecond(), HasZone: true}
}

// Duration is an xsd:duration. Months and seconds cannot be converted into each other. All components have the same
// sign.
type Duration struct {
	Months  int64
	Seconds int64
	nanos   int
}

// parseDuration parses an xsd:duration such as P1Y2M, -P3DT4H or PT0.5S.
func parseDuration(s string) (Duration, bool) {
	var d Duration
	t, neg := strings.CutPrefix(s, "-")
	t, ok := strings.CutPrefix(t, "P")
	if !ok || t == "" || strings.HasSuffix(t, "T") {
		return d, false
	}
	units, inTime := "YMD", false
	for t != "" {
		if t[0] == 'T' && !inTime {
			units, inTime, t = "HMS", true, t[1:]
			continue
		}
		i := 0
		for i < len(t) && (t[i] >= '0' && t[i] <= '9' || t[i] == '.') {
			i++
		}
		if i == 0 || i == len(t) {
			return d, false
		}
		at := strings.IndexByte(units, t[i])
		if at < 0 || !d.part(t[:i], t[i], inTime) {
			return d, false
		}
		units, t = units[at+1:], t[i+1:]
	}
	if neg {
		d = Duration{-d.Months, -d.Seconds, -d.nanos}
	}
	return d, true
}

func (d *Duration) part(num string, unit byte, inTime bool) bool {
	whole, frac, point := strings.Cut(num, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > 1e12 || point && (unit != 'S' || frac == "") {
		return false
	}
	switch {
	case unit == 'Y':
		d.Months += 12 * n
	case unit == 'M' && !inTime:
		d.Months += n
	case unit == 'D':
		d.Seconds += 86400 * n
	case unit == 'H':
		d.Seconds += 3600 * n
	case unit == 'M':
		d.Seconds += 60 * n
	case unit == 'S':
		d.Seconds += n
		if frac != "" {
			f, err := strconv.Atoi((frac + "000000000")[:9])
			if err != nil {
				return false
			}
			d.nanos = f
		}
	}
	return true
}

// String returns the canonical form, such as P1Y2M, P3DT4H or PT0S.
func (d Duration) String() string {
	var b strings.Builder
	if d.Months < 0 || d.Seconds < 0 || d.nanos < 0 {
		b.WriteByte('-')
		d = Duration{-d.Months, -d.Seconds, -d.nanos}
	}
	b.WriteByte('P')
	put := func(n int64, unit byte) {
		if n != 0 {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(unit)
		}
	}
	put(d.Months/12, 'Y')
	put(d.Months%12, 'M')
	put(d.Seconds/86400, 'D')
	rest := d.Seconds % 86400
	if rest != 0 || d.nanos != 0 || d == (Duration{}) {
		b.WriteByte('T')
		put(rest/3600, 'H')
		put(rest/60%60, 'M')
		if rest%60 != 0 || d.nanos != 0 || rest == 0 {
			b.WriteString(strconv.FormatInt(rest%60, 10))
			if d.nanos != 0 {
				b.WriteString(strings.TrimRight(fmt.Sprintf(".%09d", d.nanos), "0"))
			}
			b.WriteByte('S')
		}
	}
	return b.String()
}
