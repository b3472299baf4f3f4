package layout

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Language is a language in which the pages are available.
type Language struct{ Code, Name string }

// Languages lists the languages with messages; the first is used if none of them suits the reader.
var Languages = []Language{{Code: "en", Name: "English"}, {Code: "de", Name: "Deutsch"}, {Code: "fr", Name: "Français"}}

var matcher = func() language.Matcher {
	var tags []language.Tag
	for _, l := range Languages {
		tags = append(tags, language.Make(l.Code))
	}
	return language.NewMatcher(tags)
}()

// Names of cookies and of the parameters that set them.
const (
	langName  = "lang"
	themeName = "theme"
)

// LanguageOf returns the language of a page: from the lang parameter, or else the lang cookie, or else the browser's
// preferences.
func LanguageOf(r *http.Request) string {
	for _, wanted := range []string{r.URL.Query().Get(langName), cookieOf(r, langName)} {
		if known(wanted) {
			return wanted
		}
	}
	accepted := r.Header.Get("Accept-Language")
	if len(accepted) > 1000 {
		return Languages[0].Code
	}
	tags, _, err := language.ParseAcceptLanguage(accepted)
	if err != nil {
		return Languages[0].Code
	}
	_, i, _ := matcher.Match(tags...)
	return Languages[i].Code
}

func known(code string) bool {
	return slices.ContainsFunc(Languages, func(l Language) bool { return l.Code == code })
}

// rightToLeft lists languages that are written from right to left.
var rightToLeft = []string{"ar", "arc", "arz", "azb", "ckb", "dv", "fa", "he", "ks", "lrc", "mzn", "nqo", "pnb", "ps",
	"sd", "ug", "ur", "yi"}

// DirectionOf returns the direction in which a language is written: ltr or rtl.
func DirectionOf(code string) string {
	base, _, _ := strings.Cut(strings.ToLower(code), "-")
	if slices.Contains(rightToLeft, base) {
		return "rtl"
	}
	return "ltr"
}

// themeOf returns the color theme that the reader chose: light, dark, or "" if the reader chose none.
func themeOf(r *http.Request) string {
	theme := r.URL.Query().Get(themeName)
	if theme == "" {
		theme = cookieOf(r, themeName)
	}
	if theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// keepChoices stores the language and the theme specified in the URL, if any, in cookies.
func keepChoices(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if code := q.Get(langName); known(code) {
		keep(w, langName, code)
	}
	if theme := q.Get(themeName); theme == "light" || theme == "dark" || theme == "auto" {
		keep(w, themeName, theme)
	}
}

func keep(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 400 * 24 * 3600, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// with returns a URL on this server with one parameter changed.
func with(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.IsAbs() || !strings.HasPrefix(u.Path, "/") {
		return "?" + url.Values{name: {value}}.Encode()
	}
	q := u.Query()
	q.Set(name, value)
	return "?" + q.Encode()
}
