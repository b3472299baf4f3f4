package score_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/spinachbot/spinachbot/dataset/score"
)

// This example compares two answers row by row. The prediction contains one of the two gold rows, under a different
// column name.
func ExampleCompareJSON() {
	gold := json.RawMessage(`[{"cat":{"type":"literal","value":"Tom"}},{"cat":{"type":"literal","value":"Felix"}}]`)
	predicted := json.RawMessage(`[{"x":{"type":"literal","value":"Felix"}}]`)
	s, err := score.CompareJSON(context.Background(), gold, predicted, score.Hint{}, score.Limits{}, score.Metrics()...)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range score.Metrics() {
		if f1, em, ok := s.F1EM(m); ok {
			fmt.Printf("%s: F1 %.2f, exact match %.0f\n", m, f1, em)
		}
	}
	// Output:
	// spinach: F1 0.67, exact match 0
	// grasp: F1 0.67, exact match 0
	// fair: F1 0.67, exact match 0
	// kbqa: F1 0.67, exact match 0
}
