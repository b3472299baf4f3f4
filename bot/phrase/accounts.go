package phrase

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/forum"
)

// knownBots are bot accounts that cannot be recognized by their names: the built-in users of MediaWiki and its
// extensions, and bots that edit Wikidata and Wikipedia under names such as Reinheitsgebot.
var knownBots = []string{
	"MediaWiki message delivery", "Flow talk page manager", "MediaWiki default", "Maintenance script",
	"Conversion script", "Move page script", "Delete page script",
	"Template namespace initialisation script", "Global rename script", "Redirect fixer", "New user message",
	"Abuse filter", "Edit filter", "Babel AutoCreate",
	"CommonsDelinker", "ClueBot NG", "ClueBot III", "Lowercase sigmabot III",
	"Addbot", "Cewbot", "Dexbot", "Edoderoobot", "Legobot", "Reinheitsgebot", "Xqbot", "JAnDbot", "Zorrobot",
}

// IsBot reports whether an account is a bot, judging by its name and the list of known bots.
func IsBot(name string) bool {
	return namedBot(name) || slices.Contains(knownBots, forum.UserName(name))
}

// namedBot reports whether an account's name shows that it is a bot. The name of a bot ends in Bot or BOT, or in the
// separate word "bot", with or without a number after it: KrBot2, Hoo bot, Citation bot 1. Talbot and Abbot are people.
func namedBot(name string) bool {
	name = forum.UserName(name)
	if digits := strings.TrimRight(name, "0123456789"); digits != name {
		name = strings.TrimRight(digits, " -")
	}
	name = strings.TrimSuffix(name, ")")
	if strings.HasSuffix(name, "Bot") || strings.HasSuffix(name, "BOT") {
		return true
	}
	before, ok := strings.CutSuffix(name, "bot")
	if !ok {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
