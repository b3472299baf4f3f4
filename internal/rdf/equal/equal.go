// Package equal decides which terms in results have the same value, regardless of their datatype, notation or language.
package equal

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Key returns a string that is the same for terms with the same value and differs for all others. Terms are compared as
// follows:
//
//   - numbers by value regardless of their datatype, 5 = 5.0 = "5"; fractions to twelve significant digits, since
//     engines differ beyond that;
//   - points in time by value: a date, a month or a year counts as its first instant, and times are converted to UTC;
//   - strings by their characters, without their language tags;
//   - booleans by value: 1 is true;
//   - Wikidata's identifiers, whether http or https, IRI or string (str());
//   - coordinates by their numeric values;
//   - blank nodes and Wikidata's unknown values as one value: unknown. The key of [rdf.None] is empty.
func Key(c rdf.Term) string {
	switch c.Kind {
	case rdf.None:
		return ""
	case rdf.BlankKind:
		return "unknown"
	case rdf.IRIKind:
		return iriKey(c.Value)
	case rdf.LiteralKind:
	}
	if c.Lang != "" {
		return "text " + c.Value
	}
	local, xsd := strings.CutPrefix(c.Datatype, rdf.XSD)
	switch {
	case c.Datatype == "" || local == "string" && xsd:
		if strings.HasPrefix(c.Value, rdf.Entity) {
			return iriKey(c.Value)
		}
		if n, ok := Number(c.Value); ok && canonicalNumber().MatchString(c.Value) {
			return n
		}
		return "text " + c.Value
	case c.Datatype == rdf.GeoWKT:
		return "point " + strings.Join(pointParts.FindAllString(crs.ReplaceAllString(c.Value, ""), -1), " ")
	case !xsd:
		return "typed " + c.Datatype + " " + c.Value
	}
	switch local {
	case "boolean":
		switch c.Value {
		case "1", "true":
			return "truth true"
		case "0", "false":
			return "truth false"
		}
	case "dateTime", "date", "gYear", "gYearMonth", "dateTimeStamp":
		if k, ok := instant(c.Value); ok {
			return k
		}
	case "anyURI":
		return iriKey(c.Value)
	default:
		if n, ok := Number(c.Value); ok {
			return n
		}
	}
	return "typed " + c.Datatype + " " + c.Value
}

var (
	// excludes 007, +5 and 1e3, which are probably codes if they are strings
	canonicalNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17}|-?(0|[1-9][0-9]{0,17})\.[0-9]{1,18})$`)
	})
	anyNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?$`)
	})
	pointParts = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)
	crs        = regexp.MustCompile(`^\s*<[^>]*>`)
)

// Date matches a date or time in XML Schema notation, with years of any length. The groups are year, month, day, hour,
// minute, second, fraction, zone.
var Date = regexp.MustCompile(`^([+-]?[0-9]{4,16})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?)?)?)?(Z|[+-][0-9]{2}:[0-9]{2})?$`)

func iriKey(iri string) string {
	if strings.HasPrefix(iri, "http://www.wikidata.org/.well-known/genid/") {
		return "unknown"
	}
	if rest, ok := strings.CutPrefix(iri, "https://www.wikidata.org/"); ok {
		iri = "http://www.wikidata.org/" + rest
	}
	return "iri " + iri
}

// significant is the number of significant digits that are compared in a fraction.
const significant = 12

// Number returns the key of a number in any of XML Schema's notations.
func Number(s string) (string, bool) {
	if !anyNumber().MatchString(s) {
		return "", false
	}
	f, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", false
	}
	if f.IsInt() {
		return "number " + f.Num().String(), true
	}
	text := new(big.Float).SetPrec(512).SetRat(f).Text('e', significant-1)
	mantissa, exponent, _ := strings.Cut(text, "e")
	if f, ok = new(big.Rat).SetString(text); ok && f.IsInt() {
		return "number " + f.Num().String(), true // 2.9999999999999996 is 3
	}
	return "number " + strings.TrimRight(mantissa, "0") + "e" + exponent, true
}

// instant returns the key of a date or a time. Years may have more than four digits or be negative, as in Wikidata.
func instant(s string) (string, bool) {
	m := Date.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	field := func(i, otherwise int) int {
		if m[i] == "" {
			return otherwise
		}
		n, _ := strconv.Atoi(m[i])
		return n
	}
	year, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return "", false
	}
	if field(2, 1) < 1 || field(2, 1) > 12 || field(3, 1) > 31 || field(4, 0) > 24 || field(5, 0) > 59 ||
		field(6, 0) > 60 {
		return "", false
	}
	// Shift the time into a single 400-year cycle, after which the calendar repeats, so that years of any size work.
	cycle := year / 400
	t := time.Date(int(year%400)+2000, time.Month(field(2, 1)), max(1, field(3, 1)), field(4, 0), field(5, 0),
		field(6, 0), 0, time.UTC)
	if zone := m[8]; len(zone) == 6 {
		h, _ := strconv.Atoi(zone[1:3])
		minute, _ := strconv.Atoi(zone[4:])
		shift := time.Duration(h)*time.Hour + time.Duration(minute)*time.Minute
		if zone[0] == '+' {
			shift = -shift
		}
		t = t.Add(shift)
	}
	return "time " + strconv.FormatInt(cycle*400+int64(t.Year())-2000, 10) + t.Format(" 01-02 15:04:05") +
		strings.TrimRight(strings.TrimRight(m[7], "0"), "."), true
}

// LabelColumns reports which columns contain human-readable text about another column: xLabel, xAltLabel and
// xDescription, if there is a column x.
func LabelColumns(vars []string) []bool {
	next := make([]bool, len(vars))
	for i, v := range vars {
		for _, suffix := range []string{"AltLabel", "Label", "Description"} {
			if base, ok := strings.CutSuffix(v, suffix); ok {
				next[i] = slices.Contains(vars, base)
				break
			}
		}
	}
	return next
}
