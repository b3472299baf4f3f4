package faithful

import "slices"

// countOfErrors lists what is counted in a query rather than in the result: its errors and changes.
var countOfErrors = wordMap(`error errors mistake mistakes problem problems change changes correction corrections query queries
	fehler fehlern änderung änderungen problem probleme abfrage abfragen erreur erreurs problème problèmes changement
	changements requête requêtes errores problema problemas cambio cambios consulta consultas errore errori problemi modifiche
	query erro erros alterações fout fouten problemen wijzigingen query's błąd błędy błędów zapytania zmiany ошибка ошибки ошибок
	запроса изменения проблемы`)

// countsErrors reports whether the token at i is a number of errors or the like: two small mistakes.
func countsErrors(toks []token, i int) bool {
	return slices.ContainsFunc(toks[i+1:min(i+3, len(toks))], func(t token) bool { return countOfErrors[t.folded] })
}
