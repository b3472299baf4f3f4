// Package phrase classifies posts by keywords, in the languages most common on the forum: thanks, requests, refusals,
// and calls to stop. It also recognizes bot accounts by their names.
package phrase

import (
	"strings"
	"unicode"
)

// thanks contains words of thanks, praise, agreement or greeting in the languages most common on the forum. filler
// contains words that may accompany them. A post is chatter only if every word is in one of the lists and at least one
// is in thanks, so fillers may have other uses, too.
const (
	thanks = `
thanks thank thankyou thx ty tnx cheers good nice awesome amazing perfect perfectly excellent wonderful brilliant fantastic cool wow great super ok okay yes yep
works worked appreciated useful helpful lovely neat superb excellently welcome hi hello hey regards sincerely solved resolved fine
danke dankeschön dank prima toll klasse genial perfekt funktioniert passt hallo gruß grüße ja schön gut
merci parfait génial top bravo marche oui bonjour cordialement salut excellente
gracias perfecto excelente hola saludos sí
grazie perfetto ottimo ciao saluti sì
obrigado obrigada perfeito ótimo olá
bedankt geweldig mooi hoi groet groeten
dzięki dziękuję świetnie tack bra hej спасибо отлично привет дякую
ありがとう ありがとうございます ありがとうございました 谢谢 謝謝 多谢 感谢 شكرا תודה`
	filler = `
you u so very much many a lot tons again really truly indeed for the your quick fast all job well done answer reply help query it this that is was exactly what i
needed looking dear kind best sincerely bot user too guys everyone to
that's it's my just did does ah oh such swift prompt wanted asked after once wonderfully response responses info information suggestion suggestions
hint hints tip tips advice comment comments time effort patience trick right track settles settled helps helped clears
vielen herzlichen besten lieben sehr für die schnelle hilfe antwort genau das viele liebe war ist es an alle
hat mir geholfen hilft weiter nochmal nochmals hilfreich dir euch ihnen dafür damit erledigt so wollte
beaucoup bien mille fois pour la réponse rapide votre ton aide c'est cest est exactement ça très à tous
encore tout cela fait m'a aidé aidée ce qu'il me fallait utile infiniment
muchas muchísimas por respuesta ayuda si muy a todos la tu su es justo lo que buscaba necesitaba mil útil
mille molte per risposta aiuto molto bene tante tutti
muito pela resposta ajuda je wel hartelijk voor het antwoord hulp bardzo za pomoc odpowiedź så mycket för hjälpen svaret
большое огромное за ответ помощь да дуже відповідь جزيلا רבה`
)

// maxChatter is the maximum number of words in a chatter post.
const maxChatter = 25

// chatterWords contains the words in both lists. The value is true if the word is in thanks.
var chatterWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(filler) {
		m[w] = false
	}
	for _, w := range strings.Fields(thanks) {
		m[w] = true
	}
	return m
}()

// IsChatter reports whether a post consists only of thanks, praise, agreement or greetings, in any of a dozen
// languages. When in doubt, it returns false: the model must judge a post with a question mark, a number, a query or
// any other word. A post without words (just a smiley or a signature) is chatter.
func IsChatter(text string) bool {
	if strings.ContainsAny(text, "?？؟;") || strings.Contains(text, "[query]") {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
	if len(words) > maxChatter {
		return false
	}
	thanked := len(words) == 0
	for _, w := range words {
		w = strings.Trim(strings.ReplaceAll(w, "’", "'"), "'")
		if w == "" || strings.HasSuffix(w, "bot") {
			continue
		}
		core, known := chatterWords[w]
		if !known {
			return false
		}
		thanked = thanked || core
	}
	return thanked
}
