// Package index finds entities by label or alias with the semantics of Wikibase's wbsearchentities: a case-insensitive
// prefix match on the names in a chain of languages. Exact matches come first, followed by the rest, sorted by weight
// (the number of sitelinks).
//
// An [Index] is built once from [Entry] values and is then only read, by any number of goroutines. Names are stored
// folded ([Fold]) and sorted within each language, so a search is one binary search per language and a scan of the
// names that start with the search string. Source: Wikibase repo/includes/Api/SearchEntities.php and its
// LanguageFallbackChainFactory.
package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is a label or alias of an entity.
type Name struct {
	Text  string
	Lang  string // lower case
	Alias bool
}

// Entry is one entity with its names. Group separates kinds of entities: a search covers only one group. Equally good
// hits are sorted by descending Weight, then by the order in which they were added.
type Entry struct {
	ID     string
	Group  string
	Weight int64
	Names  []Name
}

// Hit is an entity found by a search, with the matching name.
type Hit struct {
	Entry *Entry
	Name  Name
	Exact bool // the whole name matched, not just a prefix
}

// posting is a folded name and the indexes of its entry and name.
type posting struct {
	folded string
	entry  int32
	name   int32
}

// Index is a searchable set of entries.
type Index struct {
	entries []Entry
	byLang  map[string][]posting // by the result of key
	byID    map[string]int32
}

func key(group, lang string) string { return group + "\x00" + lang }

// Build returns an index of the entries; it retains the slice.
func Build(entries []Entry) *Index {
	x := &Index{entries: entries, byLang: map[string][]posting{}, byID: make(map[string]int32, len(entries))}
	for i := range entries {
		e := &entries[i]
		x.byID[e.ID] = int32(i)
		for j, n := range e.Names {
			if f := Fold(n.Text); f != "" {
				k := key(e.Group, n.Lang)
				x.byLang[k] = append(x.byLang[k], posting{f, int32(i), int32(j)})
			}
		}
	}
	for _, ps := range x.byLang {
		slices.SortFunc(ps, func(a, b posting) int {
			return cmp.Or(strings.Compare(a.folded, b.folded), cmp.Compare(a.entry, b.entry), cmp.Compare(a.name, b.name))
		})
	}
	return x
}

// Len returns the number of entries.
func (x *Index) Len() int { return len(x.entries) }

// Entry returns the entry with the given ID, or nil if there is none.
func (x *Index) Entry(id string) *Entry {
	if i, ok := x.byID[id]; ok {
		return &x.entries[i]
	}
	return nil
}

// quality returns a number for sorting hits: exact labels, then exact aliases, then prefixes of either. Exact hits of
// the same kind are ordered by the position of their language in the chain.
func quality(h Hit, lang int) int {
	q := 2
	if h.Exact && !h.Name.Alias {
		q = 0
	} else if h.Exact {
		q = 1
	}
	if q == 2 { // if only a prefix matches, the language does not matter
		return q << 8
	}
	return q<<8 | min(lang, 255)
}

// Search returns the first limit hits in a group for a search string in the given languages, best first, and whether
// there are more. Each entity is returned once, with its best name. An empty string finds nothing.
func (x *Index) Search(text, group string, langs []string, limit int) (hits []Hit, more bool) {
	text = Fold(text)
	if text == "" || limit < 1 {
		return nil, false
	}
	type ranked struct {
		hit  Hit
		q    int
		at   int32
		name int32
	}
	best := map[int32]ranked{}
	for li, lang := range langs {
		ps := x.byLang[key(group, lang)]
		from, _ := slices.BinarySearchFunc(ps, text, func(p posting, t string) int { return strings.Compare(p.folded, t) })
		for _, p := range ps[from:] {
			if !strings.HasPrefix(p.folded, text) {
				break
			}
			e := &x.entries[p.entry]
			r := ranked{hit: Hit{e, e.Names[p.name], len(p.folded) == len(text)}, at: p.entry, name: p.name}
			r.q = quality(r.hit, li)
			// If several names are equally good, prefer the label, and then the first name.
			if old, ok := best[p.entry]; !ok || r.q < old.q || r.q == old.q && old.hit.Name.Alias && !r.hit.Name.Alias {
				best[p.entry] = r
			}
		}
	}
	all := make([]ranked, 0, len(best))
	for _, r := range best {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.q, b.q), cmp.Compare(b.hit.Entry.Weight, a.hit.Entry.Weight), cmp.Compare(a.at, b.at))
	})
	if len(all) > limit {
		all, more = all[:limit], true
	}
	for _, r := range all {
		hits = append(hits, r.hit)
	}
	return hits, more
}

// Fold returns the form in which names are compared: lowercase after Unicode simple case folding, with single spaces
// between words and no leading or trailing spaces.
func Fold(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c < ' ' || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') || c >= 'A' && c <= 'Z' {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if unicode.Is(unicode.Cf, r) { // directional marks and similar characters are invisible
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(foldRune(r))
	}
	return b.String()
}

// foldRune returns the lowercase form of the smallest rune in r's folding orbit. It is the same for all case variants
// of a letter.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	return unicode.ToLower(least)
}

// Chain returns the languages in which names are searched if lang is requested: the language, its explicit fallbacks,
// its shorter forms, "mul" (Wikidata's default values for all languages) and "en". If lang is empty, they are mul and
// en.
func Chain(lang string) []string {
	lang = strings.ToLower(strings.TrimSpace(lang))
	var out []string
	add := func(l string) {
		if l != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	for l := lang; l != ""; {
		add(l)
		for _, f := range fallback(l) {
			add(f)
		}
		i := strings.LastIndexByte(l, '-')
		if i < 0 {
			break
		}
		l = l[:i]
	}
	add("mul")
	add("en")
	return out
}

// fallback lists MediaWiki's fallbacks for languages whose codes do not imply them (the common ones from
// languages/messages/Messages*.php).
func fallback(lang string) []string {
	switch lang {
	case "als", "gsw", "bar", "ksh", "pdc", "pfl", "sli", "stq", "vmf", "lb", "nds":
		return []string{"de"}
	case "no":
		return []string{"nb", "nn"}
	case "nb", "nn":
		return []string{"no", "nb", "nn"}
	case "zh-tw", "zh-hk", "zh-mo", "zh-hant":
		return []string{"zh-hant", "zh-hk", "zh-tw", "zh", "zh-hans"}
	case "zh-cn", "zh-sg", "zh-my", "zh-hans":
		return []string{"zh-hans", "zh-cn", "zh", "zh-hant"}
	case "zh":
		return []string{"zh-hans", "zh-cn", "zh-hant"}
	case "oc", "pcd", "wa", "br", "co":
		return []string{"fr"}
	case "ca", "ast", "an", "gn", "qu":
		return []string{"es"}
	case "be-tarask":
		return []string{"be"}
	case "sr":
		return []string{"sr-ec", "sr-cyrl", "sr-el", "sr-latn"}
	}
	return nil
}
