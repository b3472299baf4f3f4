package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rowsJSON returns a bindings list: columns by name, one string per row, with cells separated by spaces; "-" is
// unbound, @x is an English string, and 5 is a number.
func rowsJSON(columns string, rows ...string) string {
	names := strings.Fields(columns)
	var out []string
	for _, r := range rows {
		var cells []string
		for i, c := range strings.Fields(r) {
			switch {
			case c == "-":
				continue
			case strings.HasPrefix(c, "@"):
				c = fmt.Sprintf(`{"type":"literal","xml:lang":"en","value":%q}`, c[1:])
			case c[0] >= '0' && c[0] <= '9':
				c = fmt.Sprintf(`{"type":"literal","datatype":"http://www.w3.org/2001/XMLSchema#integer","value":%q}`,
					c)
			case strings.HasPrefix(c, "{"):
			default:
				c = fmt.Sprintf(`{"type":"uri","value":"http://www.wikidata.org/entity/%s"}`, c)
			}
			cells = append(cells, fmt.Sprintf("%q:%s", names[i], c))
		}
		out = append(out, "{"+strings.Join(cells, ",")+"}")
	}
	return "[" + strings.Join(out, ",") + "]"
}

func compare(t *testing.T, gold, pred string, hint Hint) Scores {
	t.Helper()
	s, err := CompareJSON(t.Context(), json.RawMessage(gold), json.RawMessage(pred), hint, Limits{}, Metrics()...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const none = "null"

// The values follow from the definitions and were computed by hand. A negative value means that the score is undefined.
func TestRowMeasures(t *testing.T) {
	many := func(n int) (rows []string) {
		for i := range n {
			rows = append(rows, fmt.Sprint("Q", i+1))
		}
		return rows
	}
	for _, c := range []struct {
		name, gold, pred     string
		spinach, grasp, fair float64
	}{
		{"one of two, two strays", rowsJSON("x", "Q1", "Q9"), rowsJSON("y", "Q1", "Q2", "Q3"), 0.4, 0.5, 0.4},
		{"half right, as many rows", rowsJSON("x", "Q1", "Q2"), rowsJSON("y", "Q1", "Q3"), 0.5, 2. / 3, 0.5},
		{"one of two columns in each row", rowsJSON("x y", "Q1 Q2", "Q3 Q4"), rowsJSON("x", "Q1", "Q3"), 2. / 3,
			2. / 3, 2. / 3},
		// tp is 1, fp is 2, and fn is 1. The score is the same for grasp, because there is no row with which the extra rows
		// can be paired.
		{"and two strays", rowsJSON("x y", "Q1 Q2", "Q3 Q4"), rowsJSON("x", "Q1", "Q3", "Q8", "Q9"), 0.4, 0.4, 0.4},
		{"one of three columns and two strays", rowsJSON("x y z", "Q1 Q2 Q5", "Q3 Q4 Q6"),
			rowsJSON("x", "Q1", "Q3", "Q8", "Q9"), 2. / 7, 2. / 7, 2. / 7},
		{"gold label column", rowsJSON("item itemLabel", "Q1 @one"), rowsJSON("item", "Q1"), 1, 2. / 3, 1},
		{"gold description column", rowsJSON("item itemDescription", "Q1 @one"), rowsJSON("item", "Q1"), 1, 2. / 3, 1},
		{"names of columns do not matter", rowsJSON("a b", "Q1 Q2"), rowsJSON("x y", "Q2 Q1"), 1, 1, 1},
		{"only a label column", rowsJSON("itemLabel", "@one"), rowsJSON("item itemLabel", "Q1 @one"), 0, 1, 1},
		{"more predicted columns cost nothing", rowsJSON("x", "Q1"), rowsJSON("x y z", "Q1 Q2 Q3"), 1, 1, 1},
		{"predicted duplicates", rowsJSON("x", "Q1"), rowsJSON("x", "Q1", "Q1"), 2. / 3, 2. / 3, 1},
		{"gold duplicates", rowsJSON("x", "Q1", "Q1"), rowsJSON("x", "Q1"), 2. / 3, 2. / 3, 1},
		{"unbound cells are absent", rowsJSON("x y", "Q1 -"), rowsJSON("x", "Q1"), 1, 1, 1},
		{"equal truth values", "true", "true", 1, 1, 1},
		{"other truth value", "true", "false", 0, 0, 0},
		{"table for a truth value", "true", rowsJSON("x", "Q1"), 0, 1, 1},
		{"empty table for false", "false", "[]", 0, 1, 1},
		{"count of nothing for false", "false", rowsJSON("n", "0"), 0, 0, 1},
		{"truth value for a table", rowsJSON("x", "Q1", "Q2"), "true", 0, 1, 0},
		{"truth value in a cell for a truth value", "false",
			rowsJSON("x", `{"type":"literal","datatype":"http://www.w3.org/2001/XMLSchema#boolean","value":"false"}`),
			0, 0, 1},
		{"nothing predicted", rowsJSON("x", "Q1"), none, 0, 0, 0},
		{"nothing predicted for false", "false", none, 0, 0, 0},
		{"no rows predicted", rowsJSON("x", "Q1"), "[]", 0, 0, 0},
		{"empty gold", "[]", rowsJSON("x", "Q1"), -1, -1, -1},
		{"both empty", "[]", "[]", -1, -1, -1},
		{"no gold", none, rowsJSON("x", "Q1"), -1, -1, -1},
		{"1,024 rows and one column more", rowsJSON("x", many(1024)...),
			rowsJSON("x y", each(many(1024), " Q0")...), 1, 1, 1},
		{"1,025 rows and one column more", rowsJSON("x", many(1025)...),
			rowsJSON("x y", each(many(1025), " Q0")...), 1, 0, 1},
		{"language", rowsJSON("x", "@one"), rowsJSON("x", `{"type":"literal","xml:lang":"de","value":"one"}`), 0, 0, 1},
		{"datatype", rowsJSON("x", "5"), rowsJSON("x",
			`{"type":"literal","datatype":"http://www.w3.org/2001/XMLSchema#decimal","value":"5.0"}`), 0, 0, 1},
		{"no datatype", rowsJSON("x", "5"), rowsJSON("x", `{"type":"literal","value":"5"}`), 0, 0, 1},
		{"members of a cell that nobody knows", rowsJSON("x", `{"type":"literal","value":"a","note":1}`),
			rowsJSON("x", `{"type":"literal","value":"a"}`), 0, 1, 1},
		{"order of a cell's members", `[{"x":{"type":"literal","value":"a"}}]`,
			`[{"x": {"value" : "\u0061", "type" :"literal"} }]`, 1, 1, 1},
	} {
		s := compare(t, c.gold, c.pred, Hint{})
		for m, want := range map[Metric]float64{MetricSpinach: c.spinach, MetricGRASP: c.grasp, MetricFair: c.fair} {
			f1, em, ok := s.F1EM(m)
			if !ok {
				f1 = -1
			}
			if math.Abs(f1-want) > 1e-7 || em == 1 != (want == 1) {
				t.Errorf("%s: %s gives %v (em %v), want %v", c.name, m, f1, em, want)
			}
		}
	}
}

func each(rows []string, suffix string) (out []string) {
	for _, r := range rows {
		out = append(out, r+suffix)
	}
	return out
}

// In this example, two best pairings have different numbers of pairs. The value for SciPy's choice is between their
// scores.
func TestLowest(t *testing.T) {
	s := compare(t, rowsJSON("x y", "Q1 Q2", "Q2 Q3"), rowsJSON("x y", "Q1 Q2", "Q1 Q9"), Hint{}).Spinach
	// The sum is 1. The value is 2/(1+4-2) with both rows paired, and 2/(1+4-1) with one.
	if math.Abs(s.F1-2./3) > 1e-12 || math.Abs(s.Lowest-0.5) > 1e-12 || s.Pairs != 2 {
		t.Errorf("%+v", s)
	}
}

// The row order never matters. The column order does not matter for spinach and fair, but it does for grasp above 1,024
// rows.
func TestPermutations(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	table := func(rows [][]string, order []int) string {
		var out []string
		for _, row := range rows {
			var cells []string
			for _, c := range order {
				cells = append(cells, row[c])
			}
			out = append(out, strings.Join(cells, " "))
		}
		return rowsJSON("a b c", out...)
	}
	for _, n := range []int{20, 1100} {
		var gold, pred [][]string
		for range n {
			row := []string{fmt.Sprint("Q", 1+r.IntN(n)), fmt.Sprint("Q", 1+r.IntN(9)), fmt.Sprint(r.IntN(50))}
			gold = append(gold, row)
			if r.IntN(3) > 0 {
				row = []string{row[0], row[1], fmt.Sprint(r.IntN(50))}
			}
			pred = append(pred, row)
		}
		plain := []int{0, 1, 2}
		before := compare(t, table(gold, plain), table(pred, plain), Hint{})
		r.Shuffle(n, func(i, j int) { gold[i], gold[j] = gold[j], gold[i] })
		r.Shuffle(n, func(i, j int) { pred[i], pred[j] = pred[j], pred[i] })
		rows := compare(t, table(gold, plain), table(pred, plain), Hint{})
		columns := compare(t, table(gold, plain), table(pred, []int{2, 0, 1}), Hint{})
		for _, m := range []Metric{MetricSpinach, MetricGRASP, MetricFair} {
			want, _, _ := before.F1EM(m)
			if got, _, _ := rows.F1EM(m); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d rows: %s gives %v, after a permutation of rows %v", n, m, want, got)
			}
			got, _, _ := columns.F1EM(m)
			if moved := math.Abs(got-want) > 1e-12; moved != (m == MetricGRASP && n > 1024) {
				t.Errorf("%d rows: %s gives %v, after a permutation of columns %v", n, m, want, got)
			}
		}
	}
}

// An additional predicted column never reduces the sum of recalls.
func TestColumnsOnlyHelp(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	cell := func() string { return []string{"Q", "@t", ""}[r.IntN(3)] + fmt.Sprint(1+r.IntN(6)) }
	for range 150 {
		var gold, pred, wider []string
		for range 1 + r.IntN(12) {
			gold = append(gold, cell()+" "+cell()+" "+cell())
		}
		for range 1 + r.IntN(12) {
			pred = append(pred, cell()+" "+cell())
			wider = append(wider, pred[len(pred)-1]+" "+cell())
		}
		g := rowsJSON("x xLabel y", gold...)
		a, b := compare(t, g, rowsJSON("a b", pred...), Hint{}), compare(t, g, rowsJSON("a b c", wider...), Hint{})
		for _, m := range []Metric{MetricSpinach, MetricGRASP, MetricFair} {
			if before, after := a.Row(m).Recall, b.Row(m).Recall; after < before-1e-9 {
				t.Errorf("%s: recall %v, with one more column %v\n%v\n%v", m, before, after, gold, wider)
			}
		}
	}
}

func typed(datatype, value string) string {
	return fmt.Sprintf(`{"type":"literal","datatype":"http://www.w3.org/2001/XMLSchema#%s","value":%q}`,
		datatype, value)
}

func TestValues(t *testing.T) {
	text := func(s string) string { return fmt.Sprintf(`{"type":"literal","value":%q}`, s) }
	iri := func(s string) string { return fmt.Sprintf(`{"type":"uri","value":%q}`, s) }
	point := func(s string) string {
		return fmt.Sprintf(`{"type":"literal","datatype":"http://www.opengis.net/ont/geosparql#wktLiteral","value":%q}`,
			s)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{typed("integer", "5"), typed("double", "5.0E0"), true},
		{typed("decimal", "0.1"), typed("double", "1e-1"), true},
		{typed("decimal", "+05.50"), typed("float", "5.5"), true},
		{typed("double", "2.9999999999999996"), typed("integer", "3"), true},
		{typed("decimal", "3.33333333333333333333"), typed("double", "3.3333333333333335"), true},
		{typed("decimal", "3.3333333333"), typed("double", "3.3333333333333335"), false},
		{typed("integer", "9007199254740993"), typed("integer", "9007199254740992"), false},
		{typed("integer", "7"), text("007"), false},
		{typed("integer", "1000"), text("1e3"), false},
		{typed("integer", "5"), text("5 "), false},
		{typed("double", "NaN"), typed("double", "NaN"), true},
		{typed("dateTime", "2000-01-01T00:00:00Z"), typed("date", "2000-01-01"), true},
		{typed("dateTime", "2000-01-01T00:00:00Z"), typed("gYear", "2000"), true},
		{typed("dateTime", "2000-01-01T00:00:00Z"), typed("integer", "2000"), false},
		{typed("dateTime", "2000-01-01T01:00:00+01:00"), typed("dateTime", "2000-01-01T00:00:00.000Z"), true},
		{typed("dateTime", "-13798000000-01-01T00:00:00Z"), typed("gYear", "-13798000000"), true},
		{typed("dateTime", "-0044-03-15T00:00:00Z"), typed("dateTime", "0044-03-15T00:00:00Z"), false},
		{typed("dateTime", "2000-13-01T00:00:00Z"), typed("dateTime", "2001-01-01T00:00:00Z"), false},
		{typed("boolean", "1"), typed("boolean", "true"), true},
		{iri("http://www.wikidata.org/entity/Q1"), text("http://www.wikidata.org/entity/Q1"), true},
		{iri("http://www.wikidata.org/entity/Q1"), iri("https://www.wikidata.org/entity/Q1"), true},
		{iri("http://www.wikidata.org/entity/Q1"), text("Q1"), false},
		{iri("http://www.wikidata.org/.well-known/genid/abc"), `{"type":"bnode","value":"b0"}`, true},
		{point("Point(1.5 2)"), point("<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT (1.5 2)"), true},
		{point("Point(1.5 2)"), point("Point(2 1.5)"), false},
	} {
		s := compare(t, rowsJSONRaw(c.a), rowsJSONRaw(c.b), Hint{})
		if s.Fair.EM != c.same {
			t.Errorf("%s and %s: equal %v, want %v", c.a, c.b, s.Fair.EM, c.same)
		}
	}
}

func rowsJSONRaw(cell string) string { return `[{"x":` + cell + `}]` }

func TestFair(t *testing.T) {
	top := Hint{Limit: 3, OrderBy: []string{"n"}}
	tiedGold := rowsJSON("x n", "Q1 9", "Q2 5", "Q3 5")
	for _, c := range []struct {
		name, gold, pred string
		hint             Hint
		want             float64
	}{
		{"labels instead of entities", rowsJSON("x xLabel", "Q1 @one", "Q2 @two"),
			rowsJSON("name", "@one", "@two"), Hint{}, 1},
		{"a label that names two entities", rowsJSON("x xLabel", "Q1 @one", "Q2 @one"),
			rowsJSON("name", "@one"), Hint{}, 0},
		{"labels that gold does not tell", rowsJSON("x", "Q1"), rowsJSON("name", "@one"), Hint{}, 0},
		{"a label counts once next to its entity", rowsJSON("x xLabel y", "Q1 @one Q2"),
			rowsJSON("x xLabel", "Q1 @one"), Hint{}, 2. / 3},
		{"a label where gold has a title", rowsJSON("title", "@one"), rowsJSON("x xLabel", "Q1 @one"), Hint{}, 1},
		{"labels of what is unbound", rowsJSON("who", "Q1", "@two", "@three"),
			rowsJSON("a aLabel", "Q1 @one", "- @two", "- @three"), Hint{}, 1},
		{"labels in two languages are no other rows", rowsJSON("x", "Q1"),
			rowsJSON("x xLabel", "Q1 @one", "Q1 @eins"), Hint{}, 1},
		{"another row of the tie", tiedGold, rowsJSON("x n", "Q1 9", "Q2 5", "Q4 5"), top, 1},
		{"the tie without a hint", tiedGold, rowsJSON("x n", "Q1 9", "Q2 5", "Q4 5"), Hint{}, 5 / 5.5},
		{"not tied with the last", tiedGold, rowsJSON("x n", "Q7 9", "Q2 5", "Q3 5"), top, 5 / 5.5},
		{"limit not reached", tiedGold, rowsJSON("x n", "Q1 9", "Q2 5", "Q4 5"),
			Hint{Limit: 4, OrderBy: []string{"n"}}, 5 / 5.5},
		{"the order is not a column", tiedGold, rowsJSON("x n", "Q1 9", "Q2 5", "Q4 5"),
			Hint{Limit: 3, OrderBy: []string{"m"}}, 5 / 5.5},
		{"tied rows without the order's column lose nothing", tiedGold, rowsJSON("x", "Q1", "Q2", "Q3"), top,
			1.5 * 2 / 4.5},
	} {
		if s := compare(t, c.gold, c.pred, c.hint).Fair; math.Abs(s.F1-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v (%+v)", c.name, s.F1, c.want, s)
		}
	}
}

func sharedFile(t testing.TB, name string) []byte {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
	}
	return b
}

// This test checks SPINACH's released outputs on QALD-10: every stored score, GRASP's scores for the same outputs,
// and the published means.
func TestPublishedScores(t *testing.T) {
	var items []struct {
		F1   float64         `json:"f1"`
		Gold json.RawMessage `json:"gold_answer_tuple"`
		Pred json.RawMessage `json:"predicted_answer_tuple"`
	}
	var grasp []float64
	for name, into := range map[string]any{"data/spinach/qald10-outputs.json": &items,
		"data/spinach/qald10-grasp-f1.json": &grasp} {
		if err := json.Unmarshal(sharedFile(t, name), into); err != nil {
			t.Fatal(err)
		}
	}
	if len(items) != 387 || len(grasp) != 387 {
		t.Fatalf("%d items, %d scores of GRASP's", len(items), len(grasp))
	}
	sum := map[Metric][2]float64{}
	for i, it := range items {
		s, err := CompareJSON(t.Context(), it.Gold, it.Pred, Hint{}, Limits{}, Metrics()...)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.Spinach.F1-it.F1) > 1e-9 || math.Abs(s.GRASP.F1-grasp[i]) > 1e-7 {
			t.Errorf("item %d: spinach %v, stored %v; grasp %v, stored %v", i, s.Spinach.F1, it.F1,
				s.GRASP.F1, grasp[i])
		}
		if s.Spinach.Lowest != s.Spinach.F1 {
			t.Errorf("item %d depends on the order of rows", i)
		}
		for _, m := range Metrics() {
			f1, em, _ := s.F1EM(m)
			sum[m] = [2]float64{sum[m][0] + f1/387, sum[m][1] + em/387}
		}
	}
	for m, want := range map[Metric][2]string{MetricSpinach: {"69.54", "63.05"}, MetricGRASP: {"72.95", "66.41"}} {
		if got := [2]string{fmt.Sprintf("%.2f", 100*sum[m][0]), fmt.Sprintf("%.2f", 100*sum[m][1])}; got != want {
			t.Errorf("%s: %v, published %v", m, got, want)
		}
	}
	t.Logf("fair %.4f, kbqa %.4f", sum[MetricFair], sum[MetricKBQA])
}
