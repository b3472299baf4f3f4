package httpapi

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// claims returns an entity's statements in Wikibase's JSON format.
func claims(e *kg.Entity) object {
	out := object{}
	for _, ps := range e.Claims {
		list := make([]object, 0, len(ps.Statements))
		for i, st := range ps.Statements {
			list = append(list, statement(e.ID, ps, st, i))
		}
		out[ps.Property.ID] = list
	}
	return out
}

func statement(entity string, ps kg.PropertyStatements, st kg.Statement, n int) object {
	o := object{"type": "statement", "rank": string(st.Rank), "id": fmt.Sprintf("%s$%s-%d", entity, ps.Property.ID, n+1),
		"mainsnak": snak(ps.Property.ID, ps.Datatype, st.Value)}
	if len(st.Qualifiers) > 0 {
		quals, order := object{}, []string{}
		for _, q := range st.Qualifiers {
			var list []object
			for _, v := range q.Values {
				list = append(list, snak(q.Property.ID, "", v))
			}
			quals[q.Property.ID] = list
			order = append(order, q.Property.ID)
		}
		o["qualifiers"], o["qualifiers-order"] = quals, order
	}
	return o
}

// snak returns one value. A missing datatype is inferred from the value.
func snak(prop, datatype string, v kg.Value) object {
	o := object{"property": prop}
	if datatype != "" {
		o["datatype"] = datatype
	}
	switch {
	case v.Unknown:
		o["snaktype"] = "somevalue"
		return o
	case v.None:
		o["snaktype"] = "novalue"
		return o
	}
	kind, found, value := dataValue(datatype, v)
	o["snaktype"], o["datavalue"] = "value", object{"type": kind, "value": value}
	if datatype == "" {
		o["datatype"] = found
	}
	return o
}

const filePath = "http://commons.wikimedia.org/wiki/Special:FilePath/"

// dataValue returns the type of the data value, the datatype that it implies, and the value itself.
func dataValue(datatype string, v kg.Value) (kind, found string, value any) {
	t := v.Term
	if id := strings.TrimPrefix(t.Value, rdf.Entity); t.Kind == rdf.IRIKind && rdf.ValidID(id) {
		n, _ := strconv.Atoi(id[1:])
		what := map[byte]string{'P': "property", 'L': "lexeme"}[id[0]]
		if what == "" {
			what = "item"
		}
		return "wikibase-entityid", "wikibase-" + what, object{"entity-type": what, "id": id, "numeric-id": n}
	}
	switch {
	case t.Lang != "":
		return "monolingualtext", "monolingualtext", object{"text": t.Value, "language": t.Lang}
	case t.Datatype == rdf.XSDDateTime || t.Datatype == rdf.XSDDate:
		return "time", "time", timeValue(t.Value, v.Precision)
	case t.Datatype == rdf.GeoWKT:
		if g, ok := coordinate(t.Value); ok {
			return "globecoordinate", "globe-coordinate", g
		}
	case t.Datatype == rdf.XSDDecimal || t.Datatype == rdf.XSDInteger || t.Datatype == rdf.XSDDouble:
		amount, unit := t.Value, "1"
		if !strings.HasPrefix(amount, "-") && !strings.HasPrefix(amount, "+") {
			amount = "+" + amount
		}
		if v.Unit != "" {
			unit = rdf.Entity + v.Unit
		}
		return "quantity", "quantity", object{"amount": amount, "unit": unit}
	case t.Kind == rdf.IRIKind && strings.HasPrefix(t.Value, filePath):
		name, err := url.PathUnescape(strings.TrimPrefix(t.Value, filePath))
		if err != nil {
			name = t.Value
		}
		return "string", "commonsMedia", name
	case t.Kind == rdf.IRIKind:
		return "string", "url", t.Value
	}
	return "string", "string", t.Value
}

// timeValue converts an RDF time to Wikibase's format, which has a leading sign and no year 0, so BC years differ by
// one (RDF's -0043 is Wikibase's -0044).
func timeValue(s string, precision int) object {
	if precision == 0 {
		precision = 11
	}
	if !strings.Contains(s, "T") {
		s = strings.TrimSuffix(s, "Z") + "T00:00:00Z"
	}
	neg := strings.HasPrefix(s, "-")
	digits, rest, _ := strings.Cut(strings.TrimPrefix(s, "-"), "-")
	if year, err := strconv.ParseInt(digits, 10, 64); err == nil && (neg || year == 0) {
		s = fmt.Sprintf("-%04d-%s", year+1, rest)
	} else if !neg {
		s = "+" + s
	}
	if precision <= 9 && len(rest) >= 5 {
		s = s[:len(s)-len(rest)] + "00-00" + rest[5:]
	} else if precision == 10 && len(rest) >= 5 {
		s = s[:len(s)-len(rest)+3] + "00" + rest[5:]
	}
	return object{"time": s, "timezone": 0, "before": 0, "after": 0, "precision": precision, "calendarmodel": rdf.Entity +
		"Q1985727"}
}

// coordinate reads Point(longitude latitude).
func coordinate(s string) (object, bool) {
	globe := rdf.Entity + "Q2"
	if strings.HasPrefix(s, "<") {
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return nil, false
		}
		globe, s = s[1:end], strings.TrimSpace(s[end+1:])
	}
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return nil, false
	}
	parts := strings.Fields(s[open+1 : end])
	if len(parts) != 2 {
		return nil, false
	}
	lon, err1 := strconv.ParseFloat(parts[0], 64)
	lat, err2 := strconv.ParseFloat(parts[1], 64)
	if err1 != nil || err2 != nil {
		return nil, false
	}
	return object{"latitude": lat, "longitude": lon, "altitude": nil, "precision": nil, "globe": globe}, true
}
