package message

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/text/language"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]+".json"] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func load(t *testing.T, pairs ...string) *Catalog {
	t.Helper()
	c, err := Load(files(pairs...), language.English)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestText(t *testing.T) {
	c := load(t,
		"en", `{"hi": "Hello {user}", "rows": {"one": "one row in {name}", "other": "{count} rows in {name}"}}`,
		"de", `{"hi": "Hallo {user}", "rows": {"one": "eine Zeile in {name}", "other": "{count} Zeilen in {name}"}}`,
		"ru", `{"hi": "Здравствуйте, {user}", "rows": {"one": "{count} строка в {name}", "few": "{count} строки в {name}",
			"many": "{count} строк в {name}", "other": "{count} строки в {name}"}}`)
	for _, tt := range []struct {
		language string
		count    int
		want     string
	}{
		{"en", 1, "one row in T"}, {"en", 0, "0 rows in T"}, {"en", 1234, "1,234 rows in T"},
		{"de", 1234, "1.234 Zeilen in T"}, {"de-CH", 1, "eine Zeile in T"},
		{"ru", 1, "1 строка в T"}, {"ru", 21, "21 строка в T"}, {"ru", 3, "3 строки в T"}, {"ru", 12, "12 строк в T"},
	} {
		if got := c.In(tt.language).Text("rows", "count", tt.count, "name", "T"); got != tt.want {
			t.Errorf("%s %d: %q, want %q", tt.language, tt.count, got, tt.want)
		}
	}
	if got := c.In("en").Text("hi", "user", "{user} {count}"); got != "Hello {user} {count}" {
		t.Errorf("what is filled in is read again: %q", got)
	}
	if got := c.In("en").Text("nothing"); got != "nothing" {
		t.Errorf("unknown key: %q", got)
	}
}

func TestIn(t *testing.T) {
	c := load(t, "en", `{"k": "en"}`, "de", `{"k": "de"}`, "zh", `{"k": "zh"}`, "pt", `{"k": "pt"}`)
	for names, want := range map[string]string{"de": "de", "DE-at": "de", "fr-CH, fr;q=0.9, de;q=0.8, en;q=0.7": "de",
		"zh-TW": "zh", "zh-Hant-HK": "zh", "pt-BR": "pt", "": "en", "fr": "en", "*": "en", "x; drop": "en",
		strings.Repeat("de,", 500) + "de": "en"} {
		if got := c.In(names).Text("k"); got != want {
			t.Errorf("%q: %s, want %s", names, got, want)
		}
	}
	if got := c.In("sw", "de").Text("k"); got != "de" {
		t.Errorf("the second name: %s", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	en := `{"a": "{x}", "n": {"one": "one", "other": "{count}"}}`
	for name, tt := range map[string]struct{ de, want string }{
		"missing key":       {`{"a": "{x}"}`, "de.json: n: missing"},
		"key too many":      {`{"a": "{x}", "b": "", "n": {"one": "1", "other": "{count}"}}`, "de.json: b: en.json has no such key"},
		"placeholder":       {`{"a": "{y}", "n": {"one": "1", "other": "{count}"}}`, "de.json: a: placeholders [{y}], want [{x}]"},
		"no count":          {`{"a": "{x}", "n": {"one": "1", "other": "viele"}}`, "de.json: n: placeholders [], want [{count}]"},
		"a form is missing": {`{"a": "{x}", "n": {"other": "{count}"}}`, "de.json: n: forms other; the language has one other"},
		"a form too many": {`{"a": "{x}", "n": {"one": "1", "few": "2", "other": "{count}"}}`,
			"de.json: n: forms few one other; the language has one other"},
		"no forms": {`{"a": "{x}", "n": "{count}"}`, "de.json: n: the text has plural forms in only one"},
		"empty":    {`{"a": "", "n": {"one": "1", "other": "{count}"}}`, "de.json: a: empty"},
		"no JSON":  {`{"a": `, "message file de.json: "},
		"a number": {`{"a": 1}`, "message file de.json: "},
	} {
		if _, err := Load(files("en", en, "de", tt.de), language.English); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := Load(files("de", en), language.English); err == nil {
		t.Error("no fallback language: no error")
	}
	if _, err := Load(files("en", en, "not a language", en), language.English); err == nil {
		t.Error("a file's name that is no language: no error")
	}
}

// In RDF, the year 1 BC is 0, so -43 is 44 BC.
func TestAncient(t *testing.T) {
	for name, want := range map[string][2]string{"en": {"15 March 44 BC", "1 BC"}, "de": {"15. März 44\u00a0v.\u00a0Chr.", "1\u00a0v.\u00a0Chr."},
		"fr": {"15 mars 44\u00a0av.\u00a0J.-C.", "1\u00a0av.\u00a0J.-C."}, "ru": {"15 марта 44 года до н. э.", "1 до н. э."},
		"ja": {"紀元前44年3月15日", "紀元前1年"}, "zh": {"公元前44年3月15日", "公元前1年"}, "sw": {"44 BC", "1 BC"}} {
		texts := newTexts(language.MustParse(name))
		if got := [2]string{texts.Ancient(-43, 3, 15), texts.Ancient(0, 0, 0)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// French and Italian write the first day of a month as an ordinal.
func TestFirstDay(t *testing.T) {
	first := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{"fr": "1er mai 2024", "it": "1º maggio 2024", "de": "1. Mai 2024", "es": "1 de mayo de 2024"} {
		texts := newTexts(language.MustParse(name))
		if got := texts.Date(first); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := texts.Date(first.AddDate(0, 0, 10)); !strings.HasPrefix(got, "11") {
			t.Errorf("%s: the 11th is %q", name, got)
		}
	}
}

// The expected texts are from CLDR, and match what the Wikipedias in these languages write.
func TestNumbersAndDates(t *testing.T) {
	const nbsp = "\u00a0"
	day := time.Date(2024, 5, 7, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ language, number, decimal, date, month, direction string }{
		{"en", "1,234,567", "12,345.60", "7 May 2024", "May 2024", "ltr"},
		{"de", "1.234.567", "12.345,60", "7. Mai 2024", "Mai 2024", "ltr"},
		{"fr", "1" + nbsp + "234" + nbsp + "567", "12" + nbsp + "345,60", "7 mai 2024", "mai 2024", "ltr"},
		{"es", "1.234.567", "12.345,60", "7 de mayo de 2024", "mayo de 2024", "ltr"},
		{"pl", "1" + nbsp + "234" + nbsp + "567", "12" + nbsp + "345,60", "7 maja 2024", "maj 2024", "ltr"},
		{"ru", "1" + nbsp + "234" + nbsp + "567", "12" + nbsp + "345,60", "7 мая 2024 года", "май 2024 года", "ltr"},
		{"ja", "1,234,567", "12,345.60", "2024年5月7日", "2024年5月", "ltr"},
		{"ar", "1,234,567", "12,345.60", "7 مايو 2024", "مايو 2024", "rtl"},
		{"sw", "1,234,567", "12,345.60", "2024-05-07", "2024-05", "ltr"},
		{"he", "1,234,567", "12,345.60", "2024-05-07", "2024-05", "rtl"},
	} {
		texts := newTexts(language.MustParse(tt.language))
		for _, pair := range [][2]string{{texts.Number(1234567), tt.number}, {texts.Decimal("12345.60"), tt.decimal},
			{texts.Date(day), tt.date}, {texts.Month(day), tt.month}, {texts.Direction(), tt.direction}} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %q, want %q", tt.language, pair[0], pair[1])
			}
		}
	}
	en, de := newTexts(language.English), newTexts(language.German)
	for in, want := range map[string]string{"1949": "1949", "0": "0", "-5": "−5", "-1234567": "−1,234,567", "+12345": "12,345",
		"1.": "1.", "1.5.2": "1.5.2", "007": "007", "Q42": "Q42", "": "", "-": "-", "1e6": "1e6", ".5": ".5",
		"99999999999999999999": "99999999999999999999", "0.00012": "0.00012"} {
		if got := en.Decimal(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := de.Decimal("3.14"); got != "3,14" {
		t.Errorf("3.14 in German: %q", got)
	}
}

func TestCalendars(t *testing.T) {
	if errCalendars != nil {
		t.Fatal(errCalendars)
	}
	for name, c := range byLanguage {
		for _, months := range [][]string{c.Months, c.Alone} {
			if len(months) != 0 && len(months) != 12 {
				t.Errorf("%s has %d months", name, len(months))
			}
		}
		if got := placeholders(c.Day); len(got) != 3 {
			t.Errorf("%s: the day has %v", name, got)
		}
		if got := placeholders(c.Month); len(got) != 2 {
			t.Errorf("%s: the month has %v", name, got)
		}
	}
}

func TestPluralFormsNeeded(t *testing.T) {
	for name, want := range map[string]string{"en": "one other", "ja": "other", "fr": "one other", "pl": "few many one other",
		"ar": "few many one other two zero"} {
		if got := strings.Join(newTexts(language.MustParse(name)).needed(), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
