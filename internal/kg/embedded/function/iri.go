package function

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// CastKind returns the kind of value that a constructor function returns, given the datatype's IRI.
func CastKind(iri string) (value.Kind, bool) {
	k := value.KindOf(iri)
	switch k {
	case value.KindOther, value.KindLang:
		return 0, false
	}
	return k, true
}

// Cast calls a constructor function (SPARQL 1.1, section 17.5; XPath Functions, section 17).
func Cast(k value.Kind, iri string, a value.Value) value.Value {
	if k == value.KindString {
		return castString(a)
	}
	if a.Kind == value.KindString {
		v := value.Literal(k, a.Part(strings.Trim(a.Text, " \t\r\n")), iri)
		if v.Kind == value.KindIll {
			return value.Value{}
		}
		if v.Kind == value.KindBool || v.IsNumeric() {
			v.Text = "" // the canonical form
		}
		return v
	}
	if !a.IsLiteral() || a.Kind == value.KindLang || a.Kind == value.KindOther || a.Kind == value.KindIll {
		return value.Value{}
	}
	switch k {
	case value.KindBool:
		if a.IsNumeric() || a.Kind == value.KindBool {
			return value.Bool(a.Truth() == value.True)
		}
	case value.KindInt, value.KindDecimal:
		return castDecimal(k, iri, a)
	case value.KindFloat, value.KindDouble:
		if a.Kind == value.KindBool {
			a = value.SmallInt(a.Num.Digits)
		}
		if !a.IsNumeric() {
			return value.Value{}
		}
		if k == value.KindFloat {
			return value.Float(a.AsFloat())
		}
		return value.Double(a.AsFloat())
	case value.KindDateTime, value.KindDate, value.KindTime:
		return castTime(k, a)
	case value.KindDuration:
		if a.Kind == value.KindDuration {
			return durationAs(iri, *a.Duration)
		}
	}
	return value.Value{}
}

// castString returns the canonical form of a value. Doubles between one millionth and one million are written without
// an exponent (XPath Functions, section 19.1.2).
func castString(a value.Value) value.Value {
	switch a.Kind {
	case value.KindIRI, value.KindString, value.KindLang, value.KindOther:
		return value.String(a.Text)
	case value.KindBlank, value.KindIll:
		return value.Value{}
	case value.KindFloat, value.KindDouble:
		size := 64
		if a.Kind == value.KindFloat {
			size = 32
		}
		if m := math.Abs(a.Float); m == 0 || m >= 1e-6 && m < 1e6 {
			return value.String(strconv.FormatFloat(a.Float, 'f', -1, size))
		}
	}
	if a.Kind == value.KindBool || a.IsNumeric() {
		a.Text = ""
	}
	return value.String(a.Lexical())
}

func castDecimal(k value.Kind, iri string, a value.Value) value.Value {
	switch a.Kind {
	case value.KindBool:
		a = value.SmallInt(a.Num.Digits)
	case value.KindFloat, value.KindDouble:
		if math.IsNaN(a.Float) || math.IsInf(a.Float, 0) {
			return value.Value{}
		}
		size := 64
		if a.Kind == value.KindFloat {
			size = 32
		}
		d, ok := value.ParseDecimal(strconv.FormatFloat(a.Float, 'f', -1, size))
		if !ok {
			return value.Value{}
		}
		a = value.Dec(d)
	case value.KindInt, value.KindDecimal:
	default:
		return value.Value{}
	}
	if k == value.KindDecimal {
		return value.Dec(a.Num)
	}
	v := value.Value{Kind: value.KindInt, Num: a.Num.ToInteger(value.RoundTrunc), Tag: iri}
	if !value.InRange(v.Num, iri) {
		return value.Value{}
	}
	return v
}

func castTime(k value.Kind, a value.Value) value.Value {
	t := a.Time
	switch {
	case a.Kind == k:
		return value.Value{Kind: k, Text: a.Text, Time: t, Tag: a.Tag}
	case k == value.KindDate && a.Kind == value.KindDateTime:
		m := value.Moment{Year: t.Year, Month: t.Month, Day: t.Day, Zone: t.Zone, HasZone: t.HasZone}
		return value.Value{Kind: value.KindDate, Time: &m, Tag: rdf.XSDDate}
	case k == value.KindDateTime && a.Kind == value.KindDate:
		return value.Value{Kind: value.KindDateTime, Time: t, Tag: rdf.XSDDateTime}
	case k == value.KindTime && a.Kind == value.KindDateTime:
		m := value.Moment{Year: 1972, Month: 12, Day: 31, Hour: t.Hour, Minute: t.Minute, Second: t.Second, Nanos: t.Nanos,
			Zone: t.Zone, HasZone: t.HasZone}
		return value.Value{Kind: value.KindTime, Time: &m, Tag: value.XSDTime}
	}
	return value.Value{}
}

func durationAs(iri string, d value.Duration) value.Value {
	switch iri {
	case value.XSDDayTime:
		d.Months = 0
	case value.XSDYearMonth:
		d = value.Duration{Months: d.Months}
	}
	return value.Value{Kind: value.KindDuration, Duration: &d, Tag: iri}
}

const geoFunction = "http://www.opengis.net/def/geosparql/function/"

// ByIRI returns the function in Wikidata's dialect that the IRI names, or nil if there is none, with its minimum and
// maximum number of arguments.
func ByIRI(iri string) (f N, least, most int) {
	switch iri {
	case geoFunction + "distance":
		return fnDistance, 2, 3
	case geoFunction + "longitude", geoFunction + "latitude", geoFunction + "globe":
		return func(_ *Env, a []value.Value) value.Value { return fnPointPart(iri[len(geoFunction):], a[0]) }, 1, 1
	case rdf.Wikibase + "decodeUri":
		return fnDecodeURI, 1, 1
	case rdf.Wikibase + "isSomeValue":
		return func(_ *Env, a []value.Value) value.Value {
			return value.Bool(a[0].IsSomeValue())
		}, 1, 1
	case "http://www.w3.org/2005/xpath-functions#upper-case":
		return func(e *Env, a []value.Value) value.Value { return mapText(e, a[0], strings.ToUpper) }, 1, 1
	case "http://www.w3.org/2005/xpath-functions#lower-case":
		return func(e *Env, a []value.Value) value.Value { return mapText(e, a[0], strings.ToLower) }, 1, 1
	}
	return nil, 0, 0
}

// fnDecodeURI percent-decodes a string or IRI. A string with malformed escapes is returned unchanged.
func fnDecodeURI(e *Env, a []value.Value) value.Value {
	s := a[0].Text
	if !isText(a[0]) && a[0].Kind != value.KindIRI || !e.Text(len(s)) {
		return value.Value{}
	}
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	if a[0].Kind == value.KindIRI {
		return value.String(s)
	}
	return alike(a[0], s)
}

// Point is a location on a globe, in degrees.
type Point struct {
	Lon, Lat float64
	Globe    string
}

// ParsePoint parses a geo:wktLiteral for a point, such as "Point(13.38 52.51)", preceded by the globe's IRI unless the
// globe is Earth.
func ParsePoint(v value.Value) (Point, bool) {
	if v.Tag != rdf.GeoWKT && v.Kind != value.KindString {
		return Point{}, false
	}
	p := Point{Globe: rdf.Entity + "Q2"}
	s := strings.TrimSpace(v.Text)
	if strings.HasPrefix(s, "<") {
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return p, false
		}
		p.Globe, s = s[1:end], strings.TrimSpace(s[end+1:])
	}
	if len(s) < 5 || !strings.EqualFold(s[:5], "point") {
		return p, false
	}
	s = strings.TrimSpace(s[5:])
	s, ok := strings.CutPrefix(s, "(")
	s, ok2 := strings.CutSuffix(s, ")")
	parts := strings.Fields(s)
	if !ok || !ok2 || len(parts) != 2 {
		return p, false
	}
	lon, ok1 := value.ParseDouble(parts[0], 64)
	lat, ok2 := value.ParseDouble(parts[1], 64)
	p.Lon, p.Lat = lon, lat
	return p, ok1 && ok2 && math.Abs(lat) <= 90 && math.Abs(lon) <= 360
}

// earthRadius is Earth's mean radius in kilometers (IUGG).
const earthRadius = 6371.0088

// Distance returns the great-circle distance in kilometers, using the haversine formula.
func (p Point) Distance(q Point) float64 {
	rad := math.Pi / 180
	dLat, dLon := (q.Lat-p.Lat)*rad/2, (q.Lon-p.Lon)*rad/2
	h := math.Sin(dLat)*math.Sin(dLat) + math.Cos(p.Lat*rad)*math.Cos(q.Lat*rad)*math.Sin(dLon)*math.Sin(dLon)
	return 2 * earthRadius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// fnDistance is geof:distance: the distance in kilometers between two points on the same globe. The optional third
// argument, the unit, must be kilometers or degrees.
func fnDistance(_ *Env, a []value.Value) value.Value {
	p, ok1 := ParsePoint(a[0])
	q, ok2 := ParsePoint(a[1])
	if !ok1 || !ok2 || p.Globe != q.Globe {
		return value.Value{}
	}
	return value.Double(p.Distance(q))
}

func fnPointPart(part string, a value.Value) value.Value {
	p, ok := ParsePoint(a)
	switch {
	case !ok:
		return value.Value{}
	case part == "longitude":
		return value.Double(p.Lon)
	case part == "latitude":
		return value.Double(p.Lat)
	}
	return value.IRI(a.Part(p.Globe))
}

// resolveIRI resolves an IRI against a base (RFC 3986). An IRI that is already absolute or that cannot be resolved is
// returned unchanged.
func resolveIRI(base, iri string) string {
	if base == "" || hasScheme(iri) {
		return iri
	}
	b, err := url.Parse(base)
	if err != nil {
		return iri
	}
	r, err := url.Parse(iri)
	if err != nil {
		return iri
	}
	return b.ResolveReference(r).String()
}

func hasScheme(iri string) bool {
	i := strings.IndexByte(iri, ':')
	return i > 0 && !strings.ContainsAny(iri[:i], "/?#")
}
