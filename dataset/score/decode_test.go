package score

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestReadAnswer(t *testing.T) {
	d := NewDict()
	a, err := ReadAnswer(d, []byte(` { "link":[], "head" : {"vars":["x","y"],"more":{"a":[1,"]"]}}, "results": {"distinct":false,"bindings":[
		{"y":{"type":"literal","value":"a\"\\ \u00e9\ud83d\ude00","xml:lang":"fr"},"x":{"type":"uri","value":"u"}}, {}, {"z":{"value":"","type":"bnode"},"x":null} ] }, "warnings":{} } `))
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != Table || a.Size() != 3 || !reflect.DeepEqual(a.Vars, []string{"x", "y", "z"}) {
		t.Fatalf("%+v", a)
	}
	var got []Cell
	for _, id := range a.Rows.Tokens {
		got = append(got, d.Cell(id))
	}
	want := []Cell{{"literal", "a\"\\ é😀", "fr", "", ""}, {"uri", "u", "", "", ""}, {"bnode", "", "", "", ""}}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(a.Columns, []int32{1, 0, 2}) {
		t.Errorf("%q in %v, want %q", got, a.Columns, want)
	}
	for text, kind := range map[string]Kind{"null": None, " true ": Boolean, "false": Boolean, "[]": Table,
		`{"head":{},"boolean":true}`: Boolean} {
		if a, err := ReadAnswer(d, []byte(text)); err != nil || a.Kind != kind ||
			a.Bool != strings.Contains(text, "true") {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for text, want := range map[string]string{
		"":                                      "not JSON",
		"[":                                     "not JSON",
		"5":                                     "a number or a string",
		`{"a":1}`:                               "neither",
		`[1]`:                                   "row 1",
		`[{"x":1}]`:                             `"x" is not an object`,
		`[{},{"x":{"value":"a"}}]`:              `row 2 of the result: "x": it has no "type"`,
		`{"head":{"vars":[1]},"boolean":true}`:  "variable that is not a string",
		`{"results":{"bindings":{"x":"y"}}}`:    "neither",
		`[{"x":{"type":"uri","value":"\ud8"}}]`: "not JSON",
	} {
		if _, err := ReadAnswer(d, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Some programs write members that are not strings. Cells with such members differ from cells without them, as in the
// published comparison of whole objects.
func TestReadAnswerOddMembers(t *testing.T) {
	d := NewDict()
	a, err := ReadAnswer(d, []byte(`[{"x":{"type":"literal","value":5}},{"x":{"type":"literal","value":"5"}},{"x":{"type":"literal","value":"5","datatype":null}},{"x":{"value":5,"type":"literal"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{0, 1, 2, 0}; !reflect.DeepEqual(a.Rows.Tokens, want) {
		t.Errorf("cells %v, want %v", a.Rows.Tokens, want)
	}
	if c := d.Cell(0); c.Value != "5" || c.More != `"value":5` {
		t.Errorf("%+v", c)
	}
}

// The fuzz test compares the fast reader with encoding/json, cell by cell.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"a","more":[{"b":"}"}]}}]}}`))
	f.Add([]byte(`[{"x":{"type":"uri","value":"\u0041"},"y":null},{}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := NewDict()
		a, err := ReadAnswer(d, data)
		if err != nil || a.Kind != Table {
			return
		}
		var plain any
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatalf("read, but encoding/json says %v", err)
		}
		list, ok := plain.([]any)
		if !ok {
			return // if a member occurs twice, the standard does not define which one is used
		}
		if len(list) != a.Size() {
			t.Fatalf("%d rows, want %d", a.Size(), len(list))
		}
		for i, row := range list {
			for j := a.Rows.Starts[i]; j < a.Rows.Starts[i+1]; j++ {
				if _, ok := row.(map[string]any)[a.Vars[a.Columns[j]]]; !ok {
					t.Fatalf("row %d has no %q", i, a.Vars[a.Columns[j]])
				}
			}
		}
	})
}
