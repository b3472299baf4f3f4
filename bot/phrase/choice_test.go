package phrase

import "testing"

func TestChoice(t *testing.T) {
	for post, want := range map[string]int{
		"The second one, please.": 1, "the first": 0, "193": 0, "212, thanks": 1, "The first (193).": 0,
		"Die erste": 0, "la deuxième": 1, "второе": 1, "後者": 1, "後者でお願いします": 1,
		"193件の方です": 0, "是212条": 1, "الأول": 0, "1,193": -1, "12": -1,
		"Not the first one": -1, "nicht die erste": -1, "I don't mean 193": -1, "pas la première": -1, "не первое": -1,
		"前者ではない": -1, "不是第一个": -1,
		"Both: first and second": -1, "The first, not the 212": -1, "Sovereign states only": -1, "": -1,
	} {
		if got := Choice(post, []int{193, 212}); got != want {
			t.Errorf("%q: %d, want %d", post, got, want)
		}
	}
	if Choice("1", []int{5, 1}) != -1 || Choice("2", []int{2, 5}) != -1 || Choice("2", []int{5, 2}) != 1 {
		t.Error("a count or a place")
	}
	if Choice("1,193 please", []int{1193, 5}) != 0 || Choice("193", []int{193, 193}) != -1 || Choice("first", nil) != -1 {
		t.Error("thousands, equal counts, no counts")
	}
}
