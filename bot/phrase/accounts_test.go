package phrase

import "testing"

func TestMachine(t *testing.T) {
	for name, want := range map[string]bool{
		"KrBot": true, "KrBot2": true, "DeltaBot": true, "SchlurcherBOT": true, "BotBot 3": true, "Bot": true,
		"bot": true, "Hoo bot": true, "Pasleim_bot": true, "Luckas-bot": true,
		"Citation bot 1": true, "Foo bot-2": true, "Foo (bot)": true, "MediaWiki message delivery": true,
		"MediaWiki_message_delivery": true, "Flow talk page manager": true,
		"Reinheitsgebot": true,
		"Talbot":         false, "Abbot": false, "Abbot2": false, "Cabot": false, "Robot": false, "Talbot 1": false,
		"Élisabot": false, "Botany": false, "Bothfeld": false, "Botmaster": false,
		"Alice": false, "127.0.0.1": false, "2001:DB8::1": false, "": false, "42": false,
	} {
		if got := IsBot(name); got != want {
			t.Errorf("IsBot(%q) = %v", name, got)
		}
	}
}
