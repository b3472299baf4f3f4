package forum

import "strings"

// messages are the fixed sentences of a reply, by language and key. {x} is a placeholder; what is put there is encoded
// before.
var messages = map[string]map[string]string{
	"en": {
		"to":            "@{user}:",
		"query":         "Query:",
		"rows_one":      "The query found one row.",
		"rows":          "The query found {total} rows.",
		"rows_first":    "The query found {total} rows; these are the first {shown}.",
		"rows_none":     "The query found no rows.",
		"similar":       "A similar request was answered in {first}.",
		"similar_two":   "Similar requests were answered in {first} and in {second}.",
		"month":         "{month} {year}",
		"months":        "January February March April May June July August September October November December",
		"columns":       "{count} more columns are left out here.",
		"yes":           "The answer to the query is yes.",
		"no":            "The answer to the query is no.",
		"ran":           "Run on {time} at {endpoint}; the data may have changed since.",
		"steps_one":     "How I found it (1 step)",
		"steps":         "How I found it ({count} steps)",
		"steps_tried":   "What I tried ({count} steps)",
		"steps_more":    "{count} more steps",
		"notice":        "I am a bot and this reply was written automatically; please check it before you rely on it. My operator is {operator}.",
		"notice_nobody": "I am a bot and this reply was written automatically; please check it before you rely on it.",
		"invite":        "If something is missing or wrong, just reply here and say what to change.",
		"invite_failed": "You can reply here with more detail and I will try again.",
		"no_model":      "I cannot answer this at the moment: no language model is configured for me, so I have not looked for a query.",
		"not_found":     "I looked for a query that answers this and did not find one that I trust.",
		"actions":       "I did not reach an answer within the number of steps that I may take for one request.",
		"time":          "I did not reach an answer within the time that I may take for one request.",
		"money":         "I did not reach an answer within the budget that I have for one request.",
		"failed":        "Something went wrong on my side while I was looking for a query, so I have no answer.",
	},
	"de": {
		"to":            "@{user}:",
		"query":         "Abfrage:",
		"rows_one":      "Die Abfrage liefert eine Zeile.",
		"rows":          "Die Abfrage liefert {total} Zeilen.",
		"rows_first":    "Die Abfrage liefert {total} Zeilen; dies sind die ersten {shown}.",
		"rows_none":     "Die Abfrage liefert keine Zeilen.",
		"similar":       "Eine ähnliche Anfrage wurde im {first} beantwortet.",
		"similar_two":   "Ähnliche Anfragen wurden im {first} und im {second} beantwortet.",
		"month":         "{month} {year}",
		"months":        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
		"columns":       "{count} weitere Spalten sind hier weggelassen.",
		"yes":           "Die Abfrage antwortet: ja.",
		"no":            "Die Abfrage antwortet: nein.",
		"ran":           "Ausgeführt am {time} auf {endpoint}; die Daten können sich seither geändert haben.",
		"steps_one":     "So bin ich vorgegangen (1 Schritt)",
		"steps":         "So bin ich vorgegangen ({count} Schritte)",
		"steps_tried":   "Das habe ich versucht ({count} Schritte)",
		"steps_more":    "{count} weitere Schritte",
		"notice":        "Ich bin ein Bot, diese Antwort ist automatisch entstanden; bitte prüfe sie, bevor du dich auf sie verlässt. Mein Betreiber ist {operator}.",
		"notice_nobody": "Ich bin ein Bot, diese Antwort ist automatisch entstanden; bitte prüfe sie, bevor du dich auf sie verlässt.",
		"invite":        "Wenn etwas fehlt oder nicht stimmt, antworte einfach hier und sag, was anders sein soll.",
		"invite_failed": "Antworte gern hier mit mehr Einzelheiten, dann versuche ich es noch einmal.",
		"no_model":      "Das kann ich zurzeit nicht beantworten: Für mich ist kein Sprachmodell eingerichtet, deshalb habe ich nicht nach einer Abfrage gesucht.",
		"not_found":     "Ich habe nach einer passenden Abfrage gesucht, aber keine gefunden, der ich traue.",
		"actions":       "Mit der Zahl von Schritten, die ich je Anfrage habe, bin ich zu keiner Antwort gekommen.",
		"time":          "In der Zeit, die ich je Anfrage habe, bin ich zu keiner Antwort gekommen.",
		"money":         "Mit dem Budget, das ich je Anfrage habe, bin ich zu keiner Antwort gekommen.",
		"failed":        "Bei der Suche nach einer Abfrage ist bei mir etwas schiefgegangen, deshalb habe ich keine Antwort.",
	},
	"fr": {
		"to":            "@{user} :",
		"query":         "Requête :",
		"rows_one":      "La requête renvoie une ligne.",
		"rows":          "La requête renvoie {total} lignes.",
		"rows_first":    "La requête renvoie {total} lignes ; voici les {shown} premières.",
		"rows_none":     "La requête ne renvoie aucune ligne.",
		"similar":       "Une demande semblable a reçu une réponse en {first}.",
		"similar_two":   "Des demandes semblables ont reçu une réponse en {first} et en {second}.",
		"month":         "{month} {year}",
		"months":        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"columns":       "{count} autres colonnes ne sont pas montrées ici.",
		"yes":           "La requête répond oui.",
		"no":            "La requête répond non.",
		"ran":           "Exécutée le {time} sur {endpoint} ; les données ont pu changer depuis.",
		"steps_one":     "Comment je l’ai trouvée (1 étape)",
		"steps":         "Comment je l’ai trouvée ({count} étapes)",
		"steps_tried":   "Ce que j’ai essayé ({count} étapes)",
		"steps_more":    "{count} autres étapes",
		"notice":        "Je suis un robot et cette réponse a été rédigée automatiquement ; merci de la vérifier avant de vous y fier. Mon opérateur est {operator}.",
		"notice_nobody": "Je suis un robot et cette réponse a été rédigée automatiquement ; merci de la vérifier avant de vous y fier.",
		"invite":        "S’il manque quelque chose ou si quelque chose ne va pas, répondez simplement ici en disant ce qu’il faut changer.",
		"invite_failed": "Vous pouvez répondre ici avec plus de détails et je réessaierai.",
		"no_model":      "Je ne peux pas répondre pour le moment : aucun modèle de langue n’est configuré pour moi, je n’ai donc pas cherché de requête.",
		"not_found":     "J’ai cherché une requête qui réponde à cette demande et je n’en ai pas trouvé à laquelle je me fie.",
		"actions":       "Je ne suis pas arrivé à une réponse avec le nombre d’étapes dont je dispose par demande.",
		"time":          "Je ne suis pas arrivé à une réponse dans le temps dont je dispose par demande.",
		"money":         "Je ne suis pas arrivé à une réponse avec le budget dont je dispose par demande.",
		"failed":        "Un problème est survenu de mon côté pendant la recherche d’une requête, je n’ai donc pas de réponse.",
	},
}

// noAnswers are the keys that [Reply.NoAnswer] may have.
var noAnswers = map[string]bool{"no_model": true, "not_found": true, "actions": true, "time": true, "money": true,
	"failed": true}

// catalog returns the sentences of a language: "de-CH" gets German, an unknown language English.
func catalog(language string) map[string]string {
	language, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(language)), "-")
	if m, ok := messages[language]; ok {
		return m
	}
	return messages["en"]
}

// fill puts values into a sentence's placeholders. pairs are placeholder names and values in turn.
func fill(sentence string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(sentence)
}
