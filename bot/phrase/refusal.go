package phrase

import (
	"slices"
	"strings"
	"unicode"
)

// Phrases that say that an answer is not what someone wanted, in the languages most common on the forum. A post that
// starts with an element of refusals is a refusal. If only words in noWords follow, there is nothing else in the post
// to act on.
const (
	refusals = `
no, nope, not what i, not what we, that s not, that is not, thats not, this is not, this isn t, that isn t, it s not, it is not, not correct, not right, wrong, this is wrong, that s wrong, that is wrong, incorrect, this is incorrect, i didn t mean, i did not mean, i meant, that does not answer, that doesn t answer, this does not answer, this doesn t answer, does not answer, doesn t answer, doesn t work, does not work, sorry but no, sorry no
nein, nö, falsch, das ist falsch, stimmt nicht, das stimmt nicht, das ist nicht, das war nicht, nicht das was, nicht richtig, so meinte ich, das meinte ich nicht, das meine ich nicht, ich meinte
non, faux, c est faux, ce n est pas, c est pas, pas ce que, ça ne répond pas, incorrect, erroné, je voulais dire
no es, no era, eso no, esto no, incorrecto, está mal, equivocado, no quise decir, quise decir, me refería
no non, sbagliato, non è, non era, errato, intendevo, non intendevo
não, errado, está errado, não é, não era, incorreto, eu quis dizer
nee, fout, dat is fout, dat is niet, klopt niet, dat klopt niet, niet wat ik, ik bedoelde
nie, źle, to nie, błędnie, nej, fel, det är fel, ne, špatně, nem
нет, неверно, неправильно, это не то, это не, не то, ні, неправильно
いいえ, 違います, ちがいます, 間違い, 不是, 不对, 不對, 错, 錯, 错误, لا, خطأ, לא, שגוי`
	// openings of posts that look like refusals but are not
	noRefusals = `no problem, no worries, no need, no rush, no doubt, no more questions, nee hoor, not bad, nicht schlecht, pas mal, non seulement, no hay problema, no hay de qué, de nada, nie ma problemu, nie ma za co, нет проблем, not only`
	noWords    = `
no nope not what i we meant mean asked asked for for was is it s that thats this isn t didn did not at all sorry but correct right wrong incorrect completely totally still again really quite the a an answer reply query result question my looking wanted want need needed does doesn work answer answers true unfortunately exactly
nein nö falsch das ist stimmt nicht war was ich meinte meine so gemeint leider die antwort abfrage richtig
non faux c est ce n pas que je voulais demandais ça la réponse du tout incorrect erroné désolé désolée
no es era eso esto incorrecto está mal lo que quería decir pregunté respuesta equivocado
sbagliato non è era quello che errato la risposta intendevo
não errado está é era isso o que eu queria a resposta incorreto
nee fout dat is niet klopt wat ik bedoelde vroeg het antwoord
nie źle to o chodziło mi nej fel det är inte ne nem
нет неверно неправильно это не то что я имел имела в виду ні
いいえ 違います ちがいます 間違い 不是 不对 不對 错 錯 错误 لا خطأ לא שגוי`
)

var (
	refusalPhrases   = phrases(refusals)
	noRefusalPhrases = phrases(noRefusals)
	noWordSet        = func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(noWords) {
			m[w] = true
		}
		return m
	}()
)

// Refuses reports whether a post starts by rejecting the previous answer, and whether the rejection is bare, with
// nothing else to act on.
func Refuses(post string) (no, bare bool) {
	if strings.HasPrefix(strings.TrimSpace(post), "[query]") {
		return false, false
	}
	words := Spaced(withoutName(readable(post)))
	begins := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(words, p) })
	}
	if !begins(refusalPhrases) || begins(noRefusalPhrases) {
		return false, false
	}
	bare = !strings.ContainsAny(post, "?？؟") && !strings.Contains(post, "[query]")
	for _, w := range strings.Fields(words) {
		known := noWordSet[w]
		if core, thanks := chatterWords[w]; thanks && core {
			known = true
		}
		bare = bare && known && !strings.ContainsFunc(w, unicode.IsDigit)
	}
	return true, bare
}

// withoutName removes a name at the start of a post, as in "@SpinachBot: no".
func withoutName(post string) string {
	fields := strings.Fields(post)
	for len(fields) > 0 && (strings.HasPrefix(fields[0], "@") || strings.HasPrefix(fields[0], "User:") ||
		namedBot(strings.Trim(fields[0], ",:"))) {
		fields = fields[1:]
	}
	return strings.Join(fields, " ")
}
