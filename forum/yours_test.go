package forum

import (
	"strings"
	"testing"
)

func TestYours(t *testing.T) {
	for _, tt := range []struct {
		language, short string
		fault           Fault
		want            string
	}{
		{"en", "Fourteen mountains.", Fault{Kind: FaultSyntax, Line: 1234}, "Your query has a syntax error in line 1234."},
		{"en", "Fourteen mountains.", Fault{Kind: FaultStatement, ID: "P2044"},
			"In your query, p:P2044 leads to a statement and not to its value; wdt:P2044 leads to the value."},
		{"de", "Vierzehn Berge.", Fault{Kind: FaultEmpty}, "Deine Abfrage ist ausführbar, liefert im Moment aber keine Ergebnisse."},
		{"fr", "Quatorze.", Fault{Kind: FaultSlow}, "Votre requête dépasse le temps d’exécution autorisé par le service de requêtes."},
		{"en", "Your query asked p:P2044, which is a statement.", Fault{Kind: FaultStatement, ID: "P2044"}, ""}, // said
		{"en", "Your query has a bracket too many.", Fault{Kind: FaultSyntax, Line: 3}, ""},
		{"en", "Fourteen.", Fault{Kind: FaultStatement, ID: "P1]] {{x}}"}, ""},
		{"en", "Fourteen.", Fault{}, ""},
	} {
		r := Reply{Language: tt.language, To: "A", Short: tt.short, Query: "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . }", Yours: tt.fault,
			Signature: "~~~~"}
		w, err := Compose(r, ":")
		if err != nil {
			t.Fatal(err)
		}
		if tt.want != "" && !strings.Contains(w, "\n:"+tt.want+"\n") ||
			tt.want == "" && (strings.Contains(w, "wdt:P2044") || strings.Contains(w, "syntax") || strings.Contains(w, "P1]]")) {
			t.Errorf("%s %+v:\n%s", tt.language, tt.fault, w)
		}
	}
}
