package reply

import "testing"

// The model's assumptions end with a period, like the surrounding sentences.
func TestEnded(t *testing.T) {
	for _, tt := range []struct{ text, language, want string }{
		{"films of one director only", "en", "films of one director only."},
		{"Films. Only those with a date.", "en", "Films. Only those with a date."},
		{"il più alto (2020)", "it", "il più alto (2020)."}, {"“films”", "en", "“films”."},
		{"映画だけ", "ja", "映画だけ。"}, {"只算电影", "zh", "只算电影。"}, {"只算电影。", "zh", "只算电影。"},
		{"why not?", "en", "why not?"}, {"and so on …", "en", "and so on …"}, {"الأفلام فقط", "ar", "الأفلام فقط."},
		{"more than 5 km\u00b2 ", "en", "more than 5 km²."}, {"", "en", ""}, {"   ", "en", ""},
	} {
		if got := ended(tt.text, tt.language); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// In Chinese and Japanese, punctuation between characters is as wide as these.
func TestWide(t *testing.T) {
	for _, tt := range []struct{ text, language, want string }{
		{"共有175部,其中有出版日期的为0部.", "zh", "共有175部，其中有出版日期的为0部."},
		{"以“作者”(P50)的条目都算作品;另有1,234部(Q5, Q7).", "zh", "以“作者”（P50）的条目都算作品；另有1,234部（Q5, Q7）."},
		{"国は37件,最も多いのはPeru (9)です", "ja", "国は37件、最も多いのはPeru (9)です"},
		{"Peru, (9): a", "zh", "Peru, (9): a"}, {"das Werk,其", "de", "das Werk,其"}, {"f(x)", "zh", "f(x)"}, {"", "zh", ""},
	} {
		if got := wide(tt.text, tt.language); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
