package phrase

import "strings"

// stopWords are words for "stop" in the languages most common on the forum. Those in vagueStops also have other
// meanings and are recognized only if a post starts with them or is very short.
const (
	stopWords = " stop stopp stopper stoppen anhalten arrêt arrête arrêtez arrêter parar detener detente deténgase " +
		"ferma fermare fermati стоп 停止 "
	vagueStops = " alto para pare halt "
)

// politeWords are words that may precede a stop word at the start of a post.
const politeWords = " please kindly could can would will you bitte bitten können könnten sie s il te vous plaît plait " +
	"por favor per favore пожалуйста hi hello hey hallo bonjour dear the this bot "

// A post with at most this many words is a call to stop if it contains a stop word anywhere. A longer post must start
// with the stop word, because a question about bus stops is not a call to stop.
const (
	maxStop      = 15
	maxVagueStop = 8
)

// SaysStop reports whether a post tells the bot to stop.
func SaysStop(said string) bool {
	words := strings.Fields(Spaced(said))
	begins := true
	for _, w := range words {
		w = " " + w + " "
		switch {
		case strings.Contains(stopWords, w) && (begins || len(words) <= maxStop),
			strings.Contains(vagueStops, w) && (begins || len(words) <= maxVagueStop):
			return true
		}
		begins = begins && strings.Contains(politeWords, w)
	}
	return false
}
