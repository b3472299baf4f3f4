// Package message provides texts in several languages: sentences with placeholders and plural forms from JSON files,
// and numbers and dates in each language's format.
//
// A [Catalog] is read from any fs.FS, so each part of the program embeds the files with its own sentences: package
// forum embeds the sentences for replies, and each package with web pages embeds its own. There is one file per
// language, named after its BCP 47 tag ("de.json"). It contains a flat object:
//
//	{
//	  "greeting": "Hello {user}",
//	  "rows": {"one": "one row", "other": "{count} rows"}
//	}
//
// {name} is a placeholder. The plural forms in an object are CLDR's cardinal categories; {count} selects the form.
// Plural rules and number formats come from golang.org/x/text. That module does not contain month names, so they are in
// this package's calendar.json.
package message

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Catalog contains texts in several languages. It is immutable and safe for concurrent use.
type Catalog struct {
	fallback *Texts
	by       map[language.Tag]*Texts
}

// Load reads every *.json file at the root of files. Each language must have exactly the same keys as the fallback
// language, with the same placeholders, and all plural forms that its counts require. The error lists the faults, one
// per line. A catalog that loads is therefore complete.
func Load(files fs.FS, fallback language.Tag) (*Catalog, error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, fmt.Errorf("message files: %w", err)
	}
	c := &Catalog{by: map[language.Tag]*Texts{}}
	for _, name := range names {
		tag, err := language.Parse(strings.TrimSuffix(path.Base(name), ".json"))
		if err != nil {
			return nil, fmt.Errorf("message file %s: its name is not a language tag: %w", name, err)
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("message file: %w", err)
		}
		t := newTexts(tag)
		if err := json.Unmarshal(b, &t.entries); err != nil {
			return nil, fmt.Errorf("message file %s: %w", name, text.JSON(err))
		}
		c.by[tag] = t
	}
	if c.fallback = c.by[fallback]; c.fallback == nil {
		return nil, fmt.Errorf("message files: there is no %s.json, the fallback for all other languages", fallback)
	}
	var faults []string
	for _, tag := range c.Languages() {
		faults = append(faults, c.by[tag].faults(c.fallback)...)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("message files:\n%s", strings.Join(faults, "\n"))
	}
	return c, nil
}

// Languages returns the catalog's languages, sorted by their tags.
func (c *Catalog) Languages() []language.Tag {
	var tags []language.Tag
	for tag := range c.by {
		tags = append(tags, tag)
	}
	slices.SortFunc(tags, func(a, b language.Tag) int { return strings.Compare(a.String(), b.String()) })
	return tags
}

// In returns the texts in the first of the named languages that the catalog contains; "de-CH" selects German. Each name
// is a BCP 47 tag, or a list like the ones that browsers send in Accept-Language. If none matches, or if the names are
// invalid, In returns the texts in the fallback language.
func (c *Catalog) In(names ...string) *Texts {
	for _, name := range names {
		if len(name) > maxNames {
			continue
		}
		tags, _, err := language.ParseAcceptLanguage(name)
		if err != nil {
			continue
		}
		for _, tag := range tags {
			for ; tag != language.Und; tag = tag.Parent() {
				if t := c.by[tag]; t != nil {
					return t
				}
			}
		}
		for _, tag := range tags { // zh-Hant has no parent, but its readers prefer zh to the fallback
			base, _ := tag.Base()
			if t := c.by[language.Make(base.String())]; t != nil {
				return t
			}
		}
	}
	return c.fallback
}

// maxNames is the maximum number of bytes read from an Accept-Language header.
const maxNames = 500

// Texts contains the texts in one language.
type Texts struct {
	tag      language.Tag
	entries  map[string]entry
	printer  *message.Printer
	decimal  string // the decimal separator
	calendar calendar
}

// entry is a sentence with its plural forms. A sentence without a count has only the "" form.
type entry map[string]string

// UnmarshalJSON reads a string or an object of plural forms.
func (e *entry) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*e = entry{"": one}
		return nil
	}
	var forms map[string]string
	if err := json.Unmarshal(b, &forms); err != nil {
		return err
	}
	*e = forms
	return nil
}

func newTexts(tag language.Tag) *Texts {
	latin, err := tag.SetTypeForKey("nu", "latn") // Western digits, which all wikis use, even Arabic ones
	if err != nil {
		latin = tag
	}
	t := &Texts{tag: tag, printer: message.NewPrinter(latin), calendar: calendarOf(tag)}
	t.decimal = strings.Trim(t.printer.Sprint(number.Decimal(1.5)), "15")
	return t
}

// Tag returns the language.
func (t *Texts) Tag() language.Tag { return t.tag }

// Direction returns the value of HTML's dir attribute: "rtl" for a language that is written from right to left, and
// "ltr" for any other.
func (t *Texts) Direction() string {
	script, _ := t.tag.Script()
	switch script.String() {
	case "Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm":
		return "rtl"
	}
	return "ltr"
}

// Has reports whether there is a text with this key.
func (t *Texts) Has(key string) bool { return t.entries[key] != nil }

// Text returns a text with its placeholders filled in. values contains alternating names and values; int and int64 are
// formatted with [Texts.Number], a time.Time with [Texts.Date], and everything else with fmt.Sprint. Values are not
// searched for placeholders, and nothing is escaped: only the caller knows where the text will appear. For an unknown
// key, Text returns the key.
func (t *Texts) Text(key string, values ...any) string {
	e, ok := t.entries[key]
	if !ok {
		return key
	}
	var pairs []string
	form := e[""]
	for i := 0; i+1 < len(values); i += 2 {
		name, value := fmt.Sprint(values[i]), values[i+1]
		if n, ok := whole(value); ok && name == "count" && form == "" {
			form = e[t.form(n)]
		}
		pairs = append(pairs, "{"+name+"}", t.value(value))
	}
	if form == "" {
		form = e["other"]
	}
	if len(pairs) == 0 {
		return form
	}
	return strings.NewReplacer(pairs...).Replace(form)
}

func whole(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	}
	return 0, false
}

func (t *Texts) value(value any) string {
	if n, ok := whole(value); ok {
		return t.Number(n)
	}
	if at, ok := value.(time.Time); ok {
		return t.Date(at)
	}
	return fmt.Sprint(value)
}

// Number formats a whole number: 12,345 in English, 12.345 in German.
func (t *Texts) Number(n int) string { return t.printer.Sprint(number.Decimal(n)) }

// Decimal formats a number passed as digits ("-1234567.50"), without rounding. Any other string is returned unchanged.
// In a number with up to four digits before the decimal point, only the point is replaced, because the number may be a
// year, and several languages do not group four digits.
func (t *Texts) Decimal(digits string) string {
	rest, minus := strings.CutPrefix(digits, "-")
	before, after, point := strings.Cut(strings.TrimPrefix(rest, "+"), ".")
	n, err := strconv.ParseUint(before, 10, 63)
	if err != nil || point && after == "" || strings.Trim(after, "0123456789") != "" || len(before) > 1 && before[0] == '0' {
		return digits
	}
	if len(before) > 4 {
		before = t.printer.Sprint(number.Decimal(n))
	}
	if minus {
		before = "−" + before
	}
	if point {
		before += t.decimal + after
	}
	return before
}

// form returns the CLDR category of a whole number in this language.
func (t *Texts) form(n int) string {
	if n < 0 {
		n = -n
	}
	return forms[plural.Cardinal.MatchPlural(t.tag, n, 0, 0, 0, 0)]
}

var forms = map[plural.Form]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two",
	plural.Few: "few", plural.Many: "many"}

// calendar describes how a language writes dates.
type calendar struct {
	Months []string `json:"months"` // January to December, as written in a date
	Alone  []string `json:"alone"`  // month names in a date without a day, if different
	First  string   `json:"first"`  // the first day of a month: "1er"; if empty, "1"
	Day    string   `json:"day"`    // "{day} {month} {year}"
	Month  string   `json:"month"`  // "{month} {year}"
	Year   string   `json:"year"`   // "{year}年", in a date before the year 1; if empty, only the number
	Before string   `json:"before"` // for a date before the year 1: "{date} BC"
}

//go:embed calendar.json
var calendars embed.FS

// byLanguage contains the calendars from calendar.json.
var byLanguage, errCalendars = readCalendars()

func readCalendars() (map[string]calendar, error) {
	b, err := calendars.ReadFile("calendar.json")
	if err != nil {
		return nil, err
	}
	var all map[string]calendar
	return all, json.Unmarshal(b, &all)
}

func calendarOf(tag language.Tag) calendar {
	base, _ := tag.Base()
	return byLanguage[base.String()]
}

// Date formats a date: "5 June 2024" in English. For a language whose month names are not known, it returns 2024-06-05.
func (t *Texts) Date(at time.Time) string {
	if t.calendar.Day == "" {
		return at.Format(time.DateOnly)
	}
	return t.calendar.write(t.calendar.Day, t.calendar.Months, at.Year(), int(at.Month()), at.Day())
}

// Ancient formats a BC date: "15 March 44 BC". The year 0 is 1 BC, as in RDF. If the month is 0, the date is only a
// year.
func (t *Texts) Ancient(year, month, day int) string {
	bc := 1 - year
	date := strconv.Itoa(bc)
	pattern := t.calendar.Year
	if month > 0 {
		pattern = t.calendar.Day
	}
	if pattern != "" {
		date = t.calendar.write(pattern, t.calendar.Months, bc, month, day)
	}
	if bc >= 10_000 {
		date = strings.Replace(date, strconv.Itoa(bc), t.Number(bc), 1)
	}
	if t.calendar.Before == "" {
		return date + " BC"
	}
	return strings.ReplaceAll(t.calendar.Before, "{date}", date)
}

// Month formats a month: "June 2024" in English. For a language without a calendar, it returns 2024-06.
func (t *Texts) Month(at time.Time) string {
	if t.calendar.Month == "" {
		return at.Format("2006-01")
	}
	months := t.calendar.Alone
	if len(months) == 0 {
		months = t.calendar.Months
	}
	return t.calendar.write(t.calendar.Month, months, at.Year(), int(at.Month()), at.Day())
}

func (c calendar) write(pattern string, months []string, year, month, day int) string {
	name := strconv.Itoa(month)
	if len(months) == 12 && month > 0 && month <= 12 {
		name = months[month-1]
	}
	of := strconv.Itoa(day)
	if day == 1 && c.First != "" {
		of = c.First
	}
	return strings.NewReplacer("{day}", of, "{month}", name, "{year}", strconv.Itoa(year)).Replace(pattern)
}
