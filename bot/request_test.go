package bot

import "testing"

func TestAsking(t *testing.T) {
	type post struct {
		kind             Kind
		text             string
		query, mentioned bool
	}
	for p, want := range map[post]bool{
		{Request, "Test\nTest", false, false}:                                     false,
		{Request, "New tool\nI made a tool, see User:X", false, false}:            false,
		{Request, "Support\nsupport Nice", false, false}:                          false,
		{Request, "New tool\nSee https://example.org/?list=please", false, false}: false,
		{Request, "Look\nThe [query]", false, false}:                              false,
		{Request, "See my comment", false, false}:                                 false,
		{Request, "Talisman pleased qualified", false, false}:                     false,
		{Request, "", false, false}:                                               false,
		{Request, "Look\n[query]", true, false}:                                   true,
		{Request, "Cats of Rome?\nAll of them", false, false}:                     true,
		{Request, "ネコ\n猫は何匹いますか？", false, false}:                                  true,
		{Request, "Cats\nPLEASE: all of them", false, false}:                      true,
		{Request, "Cats\nHow many are there", false, false}:                       true,
		{Request, "List of cats\nThe living ones", false, false}:                  true,
		{Request, "Cats\nI’d like the living ones", false, false}:                 true,
		{Request, "Katzen\nIch suche alle Katzen mit Namen", false, false}:        true,
		{Request, "Chats\nS'il vous plaît, les chats de Rome", false, false}:      true,
		{Request, "Chats\nJe cherche les chats de Rome", false, false}:            true,
		{Request, "Gatos\nBusco los gatos de Roma", false, false}:                 true,
		{Request, "Gatti\nVorrei i gatti di Roma", false, false}:                  true,
		{Request, "Katten\nIk zoek katten uit Rome", false, false}:                true,
		{FollowUp, "Here: [query]", true, false}:                                  false,
		{FollowUp, "Here is the query with the list: [query]", true, false}:       false,
		{FollowUp, "This finds them all: https://w.wiki/7Xyz", true, false}:       false,
		{FollowUp, "https://query.wikidata.org/?x=1", true, false}:                false,
		{FollowUp, "My version: [query] Could you sort it", true, false}:          true,
		{FollowUp, "Why does this give nothing: [query] ?", true, false}:          true,
		{FollowUp, "Here: [query]", true, true}:                                   true,
		{FollowUp, "Only the living ones", false, true}:                           true,
		{FollowUp, "Only the living ones", false, false}:                          false,
		{FollowUp, "I need the living ones", false, false}:                        true,
		{FollowUp, "A list with the living ones", false, false}:                   true,
		{FollowUp, "Only the living ones?", false, false}:                         true,
		{FollowUp, "Nur die lebenden bitte", false, false}:                        true,
	} {
		if got := asking(p.kind, p.text, p.query, p.mentioned); (got != "") != want {
			t.Errorf("%+v: %q, want a request: %v", p, got, want)
		}
	}
}
