package phrase

import "testing"

func TestAsking(t *testing.T) {
	type post struct {
		kind             bool
		text             string
		query, mentioned bool
	}
	for p, want := range map[post]bool{
		{true, "Test\nTest", false, false}:                                     false,
		{true, "New tool\nI made a tool, see User:X", false, false}:            false,
		{true, "Support\nsupport Nice", false, false}:                          false,
		{true, "New tool\nSee https://example.org/?list=please", false, false}: false,
		{true, "Look\nThe [query]", false, false}:                              false,
		{true, "See my comment", false, false}:                                 false,
		{true, "Talisman pleased qualified", false, false}:                     false,
		{true, "", false, false}:                                               false,
		{true, "Look\n[query]", true, false}:                                   true,
		{true, "Cats of Rome?\nAll of them", false, false}:                     true,
		{true, "ネコ\n猫は何匹いますか？", false, false}:                                  true,
		{true, "Cats\nPLEASE: all of them", false, false}:                      true,
		{true, "Cats\nHow many are there", false, false}:                       true,
		{true, "List of cats\nThe living ones", false, false}:                  true,
		{true, "Cats\nI’d like the living ones", false, false}:                 true,
		{true, "Katzen\nIch suche alle Katzen mit Namen", false, false}:        true,
		{true, "Chats\nS'il vous plaît, les chats de Rome", false, false}:      true,
		{true, "Chats\nJe cherche les chats de Rome", false, false}:            true,
		{true, "Gatos\nBusco los gatos de Roma", false, false}:                 true,
		{true, "Gatti\nVorrei i gatti di Roma", false, false}:                  true,
		{true, "Katten\nIk zoek katten uit Rome", false, false}:                true,
		{false, "Here: [query]", true, false}:                                  false,
		{false, "Here is the query with the list: [query]", true, false}:       false,
		{false, "This finds them all: https://w.wiki/7Xyz", true, false}:       false,
		{false, "https://query.wikidata.org/?x=1", true, false}:                false,
		{false, "My version: [query] Could you sort it", true, false}:          true,
		{false, "Why does this give nothing: [query] ?", true, false}:          true,
		{false, "Here: [query]", true, true}:                                   true,
		{false, "Only the living ones", false, true}:                           true,
		{false, "Only the living ones", false, false}:                          false,
		{false, "I need the living ones", false, false}:                        true,
		{false, "A list with the living ones", false, false}:                   true,
		{false, "Only the living ones?", false, false}:                         true,
		{false, "Nur die lebenden bitte", false, false}:                        true,
	} {
		if got := Asking(p.kind, p.text, p.query, p.mentioned); (got != "") != want {
			t.Errorf("%+v: %q, want a request: %v", p, got, want)
		}
	}
}
