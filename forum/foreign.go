package forum

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var englishMonths = map[string]int{
	"January": 1, "February": 2, "March": 3, "April": 4, "May": 5, "June": 6, "July": 7, "August": 8, "September": 9,
	"October": 10, "November": 11, "December": 12,
}

// zones maps the time zones that MediaWiki installations show in signatures to minutes east of UTC.
var zones = map[string]int{
	"UTC": 0, "GMT": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "MEZ": 60, "MESZ": 120, "EET": 120,
	"EEST": 180, "MSK": 180, "IST": 330,
	"JST": 540, "KST": 540, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "PST": -480, "PDT": -420, "HNE": -300,
	"HAE": -240,
}

// monthNumber returns the number of the month with the given short or long name in any supported language, or 0.
func monthNumber(w string) int {
	w = strings.TrimSuffix(strings.ToLower(w), ".")
	return monthNames[w]
}

var monthNames = monthTable()

func monthTable() map[string]int {
	m := map[string]int{}
	for _, language := range []string{
		"january february march april may june july august september october november december",
		"jan feb mar apr may jun jul aug sep oct nov dec",
		"januar februar märz april mai juni juli august september oktober november dezember", // de
		"jan feb mär apr mai jun jul aug sep okt nov dez",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre", // fr
		"janv fév mars avr mai juin juil août sept oct nov déc",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", // es
		"ene feb mar abr may jun jul ago sep oct nov dic",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre", // it
		"gen feb mar apr mag giu lug ago set ott nov dic",
		"januari februari maart april mei juni juli augustus september oktober november december", // nl
		"jan feb mrt apr mei jun jul aug sep okt nov dec",
		"januari februari mars april maj juni juli augusti september oktober november december",              // sv
		"januar februar marts april maj juni juli august september oktober november december",                // da
		"januar februar mars april mai juni juli august september oktober november desember",                 // nb
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",           // pt
		"stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia", // pl
		"sty lut mar kwi maj cze lip sie wrz paź lis gru",
		// cs
		"ledna února března dubna května června července srpna září října listopadu prosince",
		// ru
		"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
		// uk
		"січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
		// fi
		"tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
	} {
		for i, w := range strings.Fields(language) {
			m[w] = i + 1
		}
	}
	return m
}

// foreignBefore parses a date in the format of a language other than English. The date must end right before the
// opening parenthesis of its time zone.
func foreignBefore(s string, open int, zone string) (start int, t time.Time, ok bool) {
	offset, known := zones[zone]
	if !known {
		return 0, t, false
	}
	from := max(0, open-60)
	for from < open && !utf8.RuneStart(s[from]) {
		from++
	}
	window := s[from:open]
	if k := strings.LastIndexAny(window, "|[]{}<>()\n\""); k >= 0 {
		from += k + 1
		window = window[k+1:]
	}
	words := dateWords(window)
	if len(words) == 0 || words[len(words)-1].end < len(strings.TrimRight(window, " \u200e\u200f.")) {
		return 0, t, false
	}
	// Find the longest sequence of date words at the end that forms a date.
	for i := range words {
		if t, ok := dateOf(words[i:]); ok && adjacent(words[i:], window) {
			return from + words[i].start, t.Add(-time.Duration(offset) * time.Minute), true
		}
	}
	return 0, t, false
}

// anyDate parses the first date with a time in a string, in any of the supported formats. The parameters of unsigned
// templates contain such dates.
func anyDate(s string) (time.Time, bool) {
	if st, ok := nextStamp(s, 0); ok {
		return st.time, true
	}
	offset := 0
	if k := strings.IndexByte(s, '('); k >= 0 {
		for zone, minutes := range zones {
			if strings.Contains(s[k:], "("+zone+")") && zone != "UTC" {
				offset = minutes
			}
		}
		s = s[:k]
	}
	t, ok := dateOf(dateWords(s))
	return t.Add(-time.Duration(offset) * time.Minute), ok
}

// dateWord is a number or a month's name in a date.
type dateWord struct {
	start, end int
	number     int
	digits     int  // number of digits; 0 for a month's name
	after      byte // the byte after it
}

func dateWords(s string) []dateWord {
	var out []dateWord
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		j := i
		switch {
		case r >= '0' && r <= '9':
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			w := dateWord{start: i, end: j, digits: j - i}
			w.number, _ = strconv.Atoi(s[i:min(j, i+6)])
			if j < len(s) {
				w.after = s[j]
			}
			out = append(out, w)
			i = j
		case unicode.IsLetter(r):
			for j < len(s) {
				r, n := utf8.DecodeRuneInString(s[j:])
				if !unicode.IsLetter(r) {
					break
				}
				j += n
			}
			if m := monthNumber(s[i:j]); m > 0 {
				out = append(out, dateWord{start: i, end: j, number: m})
			}
			i = j
		default:
			i += n
		}
	}
	return out
}

// adjacent reports whether the words in a date are separated only by short connecting words ("à", "kl.", "um").
func adjacent(words []dateWord, s string) bool {
	for i := 1; i < len(words); i++ {
		if utf8.RuneCountInString(s[words[i-1].end:words[i].start]) > 6 {
			return false
		}
	}
	return true
}

// dateOf parses a day, month and year with a time of day before or after them. There must be no other words.
func dateOf(words []dateWord) (time.Time, bool) {
	if len(words) > 6 {
		return time.Time{}, false
	}
	clock := clockIn(words)
	if clock < 0 {
		return time.Time{}, false
	}
	hour, minute := words[clock].number, words[clock+1].number
	rest := append(append([]dateWord{}, words[:clock]...), words[clock+2:]...)
	if len(rest) == 4 && rest[0].digits == 2 && clock == 0 { // seconds
		rest = rest[1:]
	}
	if len(rest) != 3 {
		return time.Time{}, false
	}
	day, month, year := rest[0], rest[1], rest[2]
	switch {
	case day.digits == 4: // 2019-08-14, 2019 August 14
		day, year = year, day
	case day.digits == 0 && month.digits > 0: // June 5, 2019
		day, month = month, day
	}
	if year.digits != 4 || day.digits == 0 || day.digits > 2 || month.digits > 2 {
		return time.Time{}, false
	}
	return date(year.number, month.number, day.number, hour, minute, 0)
}

// clockIn returns the index of the last hour that is followed by a minute, as in 10:00, 10.00 and 10h00. It returns -1
// if there is none.
func clockIn(words []dateWord) int {
	clock := -1
	for i := 0; i+1 < len(words); i++ {
		hour, minute := words[i], words[i+1]
		if hour.digits == 0 || hour.digits > 2 || minute.digits != 2 || minute.start > hour.end+1 {
			continue
		}
		switch hour.after {
		case ':', 'h':
			clock = i
		case '.':
			if minute.start == hour.end+1 && (i+2 == len(words) || words[i+2].digits != 4) { // not 14.08.2019
				clock = i
			}
		}
	}
	return clock
}
