package phrase

import (
	"strings"
	"unicode"
)

// Request phrases in English, German, French, Spanish, Italian and Dutch, the most common languages on the forum. Each
// phrase is a sequence of words. Accents are significant.
//
// asks contains phrases that ask for something. wants contains phrases that are typical of requests but also occur in
// answers with a query.
const (
	asks = `
please, pls, plz, can you, could you, would you, can someone, could someone, can somebody, could somebody, can anyone, could anyone, is there, are there, does anyone,
how many, how much, how can, how do, how to, how could, how would, how should, how is it possible, what is, what are, what was, what were, what would, what should, what s,
which, who is, who are, who was, who were, who has, who have, where is, where are, when was, when did, why is, why are, why does, why do, whose,
i want, i need, we need, we want, i d like, i would like, we would like, would like to, would love to, i m looking, i am looking, looking for, i m trying, i am trying, trying to, i was wondering, i wonder,
i m searching, searching for, help, show me, give me, get me, get all, find all, find me, list all, list of all, is it possible, any way to, any idea, any help
bitte, kann jemand, könnte jemand, kannst du, könntest du, können sie, könnten sie, gibt es, wie viele, wieviele, wie viel, wie kann, wie bekomme, wie finde, wie lautet, wie lauten,
wie heißen, welche, welcher, welches, welchen, was ist, was sind, wer ist, wer war, wer sind, wo liegt, wo liegen, wo ist, ich suche, ich möchte, ich brauche, ich hätte gern,
ich hätte gerne, ich würde gern, wir suchen, wir brauchen, gesucht, hilfe, zeige mir, zeig mir, finde alle
s il vous plaît, s il vous plait, s il te plaît, s il te plait, svp, stp, pouvez vous, pourriez vous, peux tu, pourrais tu, quelqu un peut, quelqu un pourrait, est il possible,
est ce que, y a t il, existe t il, combien, quel, quelle, quels, quelles, quel est, qui est, qui sont, où est, où sont, comment faire, comment puis je, comment obtenir, comment trouver, comment peut on, comment on peut, je cherche, je recherche, nous cherchons,
je voudrais, j aimerais, je souhaite, je souhaiterais, j ai besoin, nous avons besoin, aidez moi, merci d avance, aide
por favor, puedes, podrías, podría alguien, puede alguien, alguien puede, alguien podría, hay alguna, hay algún, cuántos, cuántas, cuantos, cuantas, cuánto, cuál, cuáles, qué,
quién es, quiénes, dónde está, cómo, busco, estoy buscando, buscamos, quiero, quisiera, me gustaría, necesito, necesitamos, ayuda
per favore, per piacere, puoi, potresti, potete, potreste, qualcuno può, qualcuno potrebbe, c è un modo, è possibile, quanti, quante, quanto, quale, quali, chi è,
chi sono, dove si trova, dove si trovano, come posso, come si può, cerco, sto cercando, cerchiamo, vorrei, vorremmo, ho bisogno, mi serve, mi servirebbe, aiuto
alsjeblieft, alstublieft, aub, a u b, kan iemand, zou iemand, kun je, kunt u, zou je, zou u, bestaat er, hoeveel, hoe kan, hoe krijg, hoe vind, welke, wat is,
wat zijn, wie is, wie zijn, waar ligt, waar liggen, ik zoek, wij zoeken, op zoek naar, ik wil, ik wou, ik heb nodig, nodig, graag, hulp`
	wants = `
query, queries, sparql, list, lists, find, search, show, want, wanted, need, needed, request, count, number of
abfrage, abfragen, anfrage, liste, listen, suche, finden, anzahl
requête, requêtes, requete, requetes, liste, listes, cherche, nombre de
consulta, consultas, lista, listas, lista de, encontrar, buscar, número de
interrogazione, interrogazioni, lista, elenco, trovare, cercare, numero di
zoekopdracht, zoekvraag, lijst, lijsten, vinden, zoek, aantal`
)

// askPhrases and wantPhrases are asks and wants in the form that [Spaced] returns.
var (
	askPhrases  = phrases(asks)
	wantPhrases = phrases(wants)
)

func phrases(list string) []string {
	var out []string
	for _, p := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' }) {
		if s := Spaced(p); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Spaced returns the words in a string, in lower case and surrounded by single spaces. All characters other than
// letters and digits separate words. It returns "" for a string without words.
func Spaced(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// NotJudged is the reason for not answering a post if there is no model and the post does not look like a request.
const NotJudged = "no model to judge it, and it does not look like a request"

// Asking returns the reason that a post looks like a request, or "" if it does not look like one. It replaces the
// model's judgment if there is no model. text is the post as displayed, with queries as "[query]" and, for the first
// post in a thread, with its heading. A request contains a query or asks for something in words. A follow-up with a
// query is more often someone's answer, so it must contain a phrase that does not occur in answers, or mention the bot.
// When in doubt, Asking returns "", because it is better to ignore a request than to answer an announcement.
func Asking(request bool, text string, query, mentioned bool) string {
	switch {
	case request && query:
		return "it contains a query"
	case !request && mentioned:
		return "it mentions us"
	}
	text = readable(text)
	if strings.ContainsAny(text, "?？؟") {
		return "it has a question mark"
	}
	words := Spaced(text)
	if has(words, askPhrases) || (request || !query) && has(words, wantPhrases) {
		return "it is worded like a request"
	}
	return ""
}

// readable removes query placeholders and URLs from a post, because they do not show whether the post asks for
// something.
func readable(text string) string {
	var words []string
	for _, w := range strings.Fields(strings.ReplaceAll(text, "[query]", " ")) {
		if !strings.Contains(w, "//") {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

func has(words string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(words, p) {
			return true
		}
	}
	return false
}
