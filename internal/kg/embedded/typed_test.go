package embedded

import (
	"context"
	"reflect"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// TestTypedValues checks that a value parsed when the graph was built equals the value parsed from its text.
func TestTypedValues(t *testing.T) {
	g := graphOf(t, `:a :p 1, -7, 007, 99999999999999999999999, 1.50, -0.0, 1e3, "NaN"^^xsd:double, "INF"^^xsd:float, "1.1"^^xsd:float, true, "0"^^xsd:boolean, "maybe"^^xsd:boolean,
		"2020-02-29T24:00:00+01:00"^^xsd:dateTime, "-0044-03-15"^^xsd:date, "12:00:00.25Z"^^xsd:time, "1999"^^xsd:gYear, "1999-12"^^xsd:gYearMonth, "P1Y2M"^^xsd:duration,
		"-PT0.5S"^^xsd:dayTimeDuration, "2020-02-30"^^xsd:date, "300"^^xsd:byte, "x"^^xsd:integer, "text", "text"@en, "x"^^:t, :iri, [] .`)
	ex := newExec(g, limit.NewMeter(context.Background(), 1<<20, nil), &plan{})
	seen := map[value.Kind]bool{}
	for n := value.ID(1); n < value.ID(g.store.Size()); n++ {
		got, want := ex.value(n), value.Of(g.store.Term(n))
		want.ID = n
		seen[got.Kind] = true
		if got.Kind == value.KindDouble && got.Float != got.Float && want.Float != want.Float {
			got.Float, want.Float = 0, 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %+v, want %+v", g.store.Term(n), got, want)
		}
	}
	for k := value.KindIRI; k <= value.KindIll; k++ {
		if !seen[k] {
			t.Errorf("no value of kind %d", k)
		}
	}
}

// TestDecimalAsDouble compares the fast decimal-to-double conversion with the conversion of the decimal's text.
func TestDecimalAsDouble(t *testing.T) {
	for text, want := range map[string]float64{"0.1": 0.1, "-2.675": -2.675, "123456789.000000001": 123456789.000000001,
		"0.30000000000000004": 0.30000000000000004,
		"9007199254740993.5":  9007199254740993.5, "0.0000000000000000000000000000001": 1e-31, "100": 100} {
		d, ok := value.ParseDecimal(text)
		if got := d.AsFloat(); !ok || got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
