package wikidata

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// rawSnak is a property with a value, an unknown value or no value. Source: Wikibase, docs/topics/json.md.
type rawSnak struct {
	Snaktype  string `json:"snaktype"`
	Datatype  string `json:"datatype"`
	Datavalue struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	} `json:"datavalue"`
}

func (s rawSnak) external() bool { return s.Datatype == "external-id" }

// value returns the RDF term that the query service uses for the snak's value. A value in an unknown form becomes an
// unknown value.
func (s rawSnak) value() kg.Value {
	switch s.Snaktype {
	case "novalue":
		return kg.Value{None: true}
	case "value":
	default:
		return kg.Value{Unknown: true}
	}
	var v kg.Value
	var ok bool
	switch s.Datavalue.Type {
	case "wikibase-entityid":
		v, ok = entityValue(s.Datavalue.Value)
	case "time":
		v, ok = timeValue(s.Datavalue.Value)
	case "quantity":
		v, ok = quantityValue(s.Datavalue.Value)
	case "globecoordinate":
		v, ok = coordinateValue(s.Datavalue.Value)
	case "monolingualtext":
		var t struct{ Text, Language string }
		ok = json.Unmarshal(s.Datavalue.Value, &t) == nil
		v.Term = rdf.LangString(t.Text, t.Language)
	default: // string, and extension datatypes with string values
		var text string
		ok = json.Unmarshal(s.Datavalue.Value, &text) == nil
		v.Term = stringTerm(s.Datatype, text)
	}
	if !ok {
		return kg.Value{Unknown: true}
	}
	return v
}

// stringTerm returns a string value in its RDF form: URLs, and files, shapes and tables on Commons, are IRIs.
func stringTerm(datatype, s string) rdf.Term {
	switch datatype {
	case "url":
		return rdf.IRI(s)
	case "commonsMedia":
		return rdf.IRI("http://commons.wikimedia.org/wiki/Special:FilePath/" + rawURLEncode(s))
	case "geo-shape", "tabular-data":
		return rdf.IRI("http://commons.wikimedia.org/data/main/" + rawURLEncode(s))
	}
	return rdf.String(s)
}

// rawURLEncode percent-encodes everything except letters, digits and -_.~ (RFC 3986's unreserved characters), like
// PHP's rawurlencode.
func rawURLEncode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// entityNumber matches the IDs of items, properties, lexemes, forms, senses and schemas.
var entityNumber = regexp.MustCompile(`^[A-Z][1-9][0-9]*(-[FS][1-9][0-9]*)?$`)

func entityValue(data json.RawMessage) (kg.Value, bool) {
	var v struct {
		ID      string `json:"id"`
		Type    string `json:"entity-type"`
		Numeric int64  `json:"numeric-id"`
	}
	if json.Unmarshal(data, &v) != nil {
		return kg.Value{}, false
	}
	if letter, ok := map[string]string{"item": "Q", "property": "P"}[v.Type]; ok && v.ID == "" && v.Numeric > 0 {
		v.ID = letter + strconv.FormatInt(v.Numeric, 10) // the form before 2016
	}
	return kg.Value{Term: rdf.IRI(rdf.Entity + v.ID)}, entityNumber.MatchString(v.ID)
}

var decimal = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

func quantityValue(data json.RawMessage) (kg.Value, bool) {
	var v struct{ Amount, Unit string }
	if json.Unmarshal(data, &v) != nil || !decimal.MatchString(v.Amount) {
		return kg.Value{}, false
	}
	return kg.Value{Term: rdf.Typed(strings.TrimPrefix(v.Amount, "+"), rdf.XSDDecimal), Unit: rdf.EntityID(v.Unit)}, true
}

// earth is the globe that the RDF form omits.
const earth = rdf.Entity + "Q2"

func coordinateValue(data json.RawMessage) (kg.Value, bool) {
	var v struct {
		Latitude, Longitude float64
		Globe               string
	}
	if json.Unmarshal(data, &v) != nil {
		return kg.Value{}, false
	}
	wkt := "Point(" + strconv.FormatFloat(v.Longitude, 'f', -1, 64) + " " + strconv.FormatFloat(v.Latitude, 'f', -1, 64) +
		")"
	if v.Globe != "" && v.Globe != earth {
		wkt = "<" + v.Globe + "> " + wkt
	}
	return kg.Value{Term: rdf.Typed(wkt, rdf.GeoWKT)}, true
}

// Wikibase's precisions for a year and a complete date.
const (
	precisionYear = 9
	precisionDay  = 11
)

var wikibaseTime = regexp.MustCompile(`^([+-])([0-9]{1,16})-([0-9]{2})-([0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})Z$`)

// timeValue returns a time in the RDF form that Wikibase uses. If the precision is at least a year, years are numbered
// as in XSD 1.1 (1 BCE is 0000, whereas Wikibase's JSON writes -0001). Month and day 00 become 01. A complete Julian
// date is converted to the Gregorian calendar. Source: Wikibase, repo/includes/Rdf/DateTimeValueCleaner and
// JulianDateTimeValueCleaner.
func timeValue(data json.RawMessage) (kg.Value, bool) {
	var v struct {
		Time      string
		Precision int
		Calendar  string `json:"calendarmodel"`
	}
	if json.Unmarshal(data, &v) != nil {
		return kg.Value{}, false
	}
	m := wikibaseTime.FindStringSubmatch(v.Time)
	if m == nil {
		return kg.Value{}, false
	}
	year, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return kg.Value{}, false
	}
	if m[1] == "-" && year > 0 {
		if year = -year; v.Precision >= precisionYear {
			year++
		}
	}
	month, _ := strconv.Atoi(m[3])
	day, _ := strconv.Atoi(m[4])
	month, day = min(max(month, 1), 12), max(day, 1)
	const farthest = 1 << 40 // beyond this, a day's calendar is meaningless and the day number overflows
	if strings.HasSuffix(v.Calendar, "/Q1985786") && v.Precision >= precisionDay && year > -farthest && year < farthest {
		year, month, day = gregorian(julianDay(year, month, day))
	}
	day = min(day, daysIn(year, month))
	return kg.Value{Term: rdf.Typed(dateTime(year, month, day, m[5]), rdf.XSDDateTime), Precision: v.Precision}, true
}

// dateTime writes an xsd:dateTime with a year of at least four digits.
func dateTime(year int64, month, day int, clock string) string {
	sign := ""
	if year < 0 {
		sign, year = "-", -year
	}
	return fmt.Sprintf("%s%04d-%02d-%02dT%sZ", sign, year, month, day, clock)
}

func daysIn(year int64, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// julianDay returns the Julian Day Number of a date in the Julian calendar, with astronomical year numbering. Source:
// Richards, "Calendars", in: Explanatory Supplement to the Astronomical Almanac, 3rd ed., section 15.11.
func julianDay(year int64, month, day int) int64 {
	a := int64(14-month) / 12
	y := year + 4800 - a
	m := int64(month) + 12*a - 3
	return int64(day) + (153*m+2)/5 + 365*y + floorDiv(y, 4) - 32083
}

// gregorian converts a Julian Day Number to a date in the proleptic Gregorian calendar (same source).
func gregorian(jdn int64) (year int64, month, day int) {
	a := jdn + 32044
	b := floorDiv(4*a+3, 146097)
	c := a - floorDiv(146097*b, 4)
	d := (4*c + 3) / 1461
	e := c - 1461*d/4
	m := (5*e + 2) / 153
	return 100*b + d - 4800 + m/10, int(m + 3 - 12*(m/10)), int(e - (153*m+2)/5 + 1)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
