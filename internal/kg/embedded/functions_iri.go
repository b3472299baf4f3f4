package embedded

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// castKind returns the kind that a constructor function makes, by the datatype's IRI.
func castKind(iri string) (vkind, bool) {
	k := kindOfTag(iri)
	switch k {
	case vOther, vLang:
		return 0, false
	}
	return k, true
}

// cast is a constructor function (SPARQL 1.1, section 17.5; XPath Functions, section 17).
func cast(k vkind, iri string, a value) value {
	if k == vString {
		return castString(a)
	}
	if a.k == vString {
		v := literalValue(k, a.part(strings.Trim(a.s, " \t\r\n")), iri)
		if v.k == vIll {
			return value{}
		}
		if v.k == vBool || v.numeric() {
			v.s = "" // the canonical form
		}
		return v
	}
	if !a.literal() || a.k == vLang || a.k == vOther || a.k == vIll {
		return value{}
	}
	switch k {
	case vBool:
		if a.numeric() || a.k == vBool {
			return boolValue(a.ebv() == triTrue)
		}
	case vInt, vDec:
		return castDecimal(k, iri, a)
	case vFloat, vDouble:
		if a.k == vBool {
			a = smallInt(a.num.n)
		}
		if !a.numeric() {
			return value{}
		}
		if k == vFloat {
			return floatValue(a.float())
		}
		return doubleValue(a.float())
	case vDateTime, vDate, vTime:
		return castTime(k, a)
	case vDuration:
		if a.k == vDuration {
			return durationAs(iri, *a.d)
		}
	}
	return value{}
}

// castString gives the canonical text of a value; doubles between a millionth and a million are written without exponent (XPath Functions, section 19.1.2).
func castString(a value) value {
	switch a.k {
	case vIRI, vString, vLang, vOther:
		return stringValue(a.s)
	case vBlank, vIll:
		return value{}
	case vFloat, vDouble:
		size := 64
		if a.k == vFloat {
			size = 32
		}
		if m := math.Abs(a.f); m == 0 || m >= 1e-6 && m < 1e6 {
			return stringValue(strconv.FormatFloat(a.f, 'f', -1, size))
		}
	}
	if a.k == vBool || a.numeric() {
		a.s = ""
	}
	return stringValue(a.lexical())
}

func castDecimal(k vkind, iri string, a value) value {
	switch a.k {
	case vBool:
		a = smallInt(a.num.n)
	case vFloat, vDouble:
		if math.IsNaN(a.f) || math.IsInf(a.f, 0) {
			return value{}
		}
		size := 64
		if a.k == vFloat {
			size = 32
		}
		d, ok := parseDecimal(strconv.FormatFloat(a.f, 'f', -1, size))
		if !ok {
			return value{}
		}
		a = decValue(d)
	case vInt, vDec:
	default:
		return value{}
	}
	if k == vDec {
		return decValue(a.num)
	}
	v := value{k: vInt, num: a.num.toInteger(roundTrunc), tag: iri}
	if !inRange(v.num, iri) {
		return value{}
	}
	return v
}

func castTime(k vkind, a value) value {
	t := a.t
	switch {
	case a.k == k:
		return value{k: k, s: a.s, t: t, tag: a.tag}
	case k == vDate && a.k == vDateTime:
		m := moment{year: t.year, month: t.month, day: t.day, zone: t.zone, hasZone: t.hasZone}
		return value{k: vDate, t: &m, tag: rdf.XSDDate}
	case k == vDateTime && a.k == vDate:
		return value{k: vDateTime, t: t, tag: rdf.XSDDateTime}
	case k == vTime && a.k == vDateTime:
		m := moment{year: 1972, month: 12, day: 31, hour: t.hour, minute: t.minute, secnd: t.secnd, nanos: t.nanos, zone: t.zone, hasZone: t.hasZone}
		return value{k: vTime, t: &m, tag: xsdTime}
	}
	return value{}
}

func durationAs(iri string, d duration) value {
	switch iri {
	case xsdDayTime:
		d.months = 0
	case xsdYearMon:
		d = duration{months: d.months}
	}
	return value{k: vDuration, d: &d, tag: iri}
}

const geoFunction = "http://www.opengis.net/def/geosparql/function/"

// iriFunction returns the functions of Wikidata's dialect that are called by IRI, with their number of arguments; nil when there is none.
func iriFunction(iri string) (f fnN, least, most int) {
	switch iri {
	case geoFunction + "distance":
		return fnDistance, 2, 3
	case geoFunction + "longitude", geoFunction + "latitude", geoFunction + "globe":
		return func(_ *exec, a []value) value { return fnPointPart(iri[len(geoFunction):], a[0]) }, 1, 1
	case rdf.Wikibase + "decodeUri":
		return fnDecodeURI, 1, 1
	case rdf.Wikibase + "isSomeValue":
		return func(_ *exec, a []value) value {
			return boolValue(a[0].k == vBlank || a[0].k == vIRI && strings.HasPrefix(a[0].s, genid))
		}, 1, 1
	case "http://www.w3.org/2005/xpath-functions#upper-case":
		return func(ex *exec, a []value) value { return mapText(ex, a[0], strings.ToUpper) }, 1, 1
	case "http://www.w3.org/2005/xpath-functions#lower-case":
		return func(ex *exec, a []value) value { return mapText(ex, a[0], strings.ToLower) }, 1, 1
	}
	return nil, 0, 0
}

// fnDecodeURI undoes percent escapes in a text or IRI; one that is not well-formed stays as it is.
func fnDecodeURI(ex *exec, a []value) value {
	s := a[0].s
	if !isText(a[0]) && a[0].k != vIRI || !ex.text(len(s)) {
		return value{}
	}
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	if a[0].k == vIRI {
		return stringValue(s)
	}
	return alike(a[0], s)
}

// point is a place on a globe in degrees.
type point struct {
	lon, lat float64
	globe    string
}

// parsePoint reads a geo:wktLiteral of a point, "Point(13.38 52.51)", with the globe's IRI before it when it is not the Earth.
func parsePoint(v value) (point, bool) {
	if v.tag != rdf.GeoWKT && v.k != vString {
		return point{}, false
	}
	p := point{globe: rdf.Entity + "Q2"}
	s := strings.TrimSpace(v.s)
	if strings.HasPrefix(s, "<") {
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return p, false
		}
		p.globe, s = s[1:end], strings.TrimSpace(s[end+1:])
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
	lon, ok1 := parseDouble(parts[0], 64)
	lat, ok2 := parseDouble(parts[1], 64)
	p.lon, p.lat = lon, lat
	return p, ok1 && ok2 && math.Abs(lat) <= 90 && math.Abs(lon) <= 360
}

// earthRadius is the mean radius of the Earth in kilometres (IUGG).
const earthRadius = 6371.0088

// distance is the great-circle distance in kilometres (haversine formula).
func (p point) distance(q point) float64 {
	rad := math.Pi / 180
	dLat, dLon := (q.lat-p.lat)*rad/2, (q.lon-p.lon)*rad/2
	h := math.Sin(dLat)*math.Sin(dLat) + math.Cos(p.lat*rad)*math.Cos(q.lat*rad)*math.Sin(dLon)*math.Sin(dLon)
	return 2 * earthRadius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// fnDistance is geof:distance: kilometres between two points of the same globe. A third argument, the unit, must be kilometres or degrees.
func fnDistance(_ *exec, a []value) value {
	p, ok1 := parsePoint(a[0])
	q, ok2 := parsePoint(a[1])
	if !ok1 || !ok2 || p.globe != q.globe {
		return value{}
	}
	return doubleValue(p.distance(q))
}

func fnPointPart(part string, a value) value {
	p, ok := parsePoint(a)
	switch {
	case !ok:
		return value{}
	case part == "longitude":
		return doubleValue(p.lon)
	case part == "latitude":
		return doubleValue(p.lat)
	}
	return iriValue(a.part(p.globe))
}
