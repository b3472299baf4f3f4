package message

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// placeholders returns the placeholders in a text, sorted, without duplicates.
func placeholders(s string) []string {
	found := placeholder.FindAllString(s, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// needed returns the plural forms that the language uses for whole numbers, including "other".
func (t *Texts) needed() []string {
	set := map[string]bool{"other": true}
	for n := range 1000 {
		set[t.form(n)] = true
	}
	for n := 1000; n <= 10_000_000; n *= 10 {
		set[t.form(n)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// faults compares the texts with those in the fallback language and returns the faults.
func (t *Texts) faults(with *Texts) []string {
	var out []string
	add := func(key, format string, args ...any) {
		out = append(out, fmt.Sprintf("%s.json: %s: ", t.tag, key)+fmt.Sprintf(format, args...))
	}
	for _, key := range slices.Sorted(maps.Keys(t.entries)) {
		if !with.Has(key) {
			add(key, "%s.json has no such key", with.tag)
			continue
		}
		want := with.entries[key]
		e := t.entries[key]
		_, single := e[""]
		_, wantSingle := want[""]
		if single != wantSingle {
			add(key, "the text has plural forms in only one of the two languages")
			continue
		}
		if !single {
			have := slices.Sorted(maps.Keys(e))
			if need := t.needed(); !slices.Equal(have, need) {
				add(key, "forms %s; the language has %s", strings.Join(have, " "), strings.Join(need, " "))
			}
		}
		for _, form := range slices.Sorted(maps.Keys(e)) {
			wanted := want["other"]
			if single {
				wanted = want[""]
			}
			got, all := placeholders(e[form]), placeholders(wanted)
			if strings.TrimSpace(e[form]) == "" {
				add(key, "empty")
			}
			// Only the "other" form requires {count}, since "one row" is clear without a number.
			if !single && form != "other" && !slices.Contains(got, "{count}") {
				all = slices.DeleteFunc(all, func(p string) bool { return p == "{count}" })
			}
			if !slices.Equal(got, all) {
				add(key, "placeholders %v, want %v", got, all)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(with.entries)) {
		if !t.Has(key) {
			add(key, "missing")
		}
	}
	return out
}
