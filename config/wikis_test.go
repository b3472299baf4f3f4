package config

import (
	"slices"
	"strings"
	"testing"
)

func TestReadWikis(t *testing.T) {
	base, _, err := Load(Source{Environ: []string{"WIKI_USER=Bot@x", "WIKI_PASSWORD=main-secret", "OPERATOR=Olga", "FOLLOWUP_LIMIT=3"}})
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"COMMONS": "commons-secret"}[name] }
	names, wikis, err := base.ReadWikis("w.yaml", []byte(`wikis:
  commons:
    api: https://commons.wikimedia.org/w/api.php
    user: Bot@c
    password: COMMONS
    forum: Commons:Queries
    archive: Commons:Queries/Archive/
    stop_page: User:Bot/run
    mentions: true
    mention_pages: [talk, "4"]
    templates: {query: [Abfrage]}
    languages: [de, pt-br]
    graph: {sparql: "https://commons-query.wikimedia.org/sparql"}
`), getenv)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	w := wikis["commons"]
	if w.WikiAPI != "https://commons.wikimedia.org/w/api.php" || w.WikiPassword.Reveal() != "commons-secret" ||
		w.ForumPage != "Commons:Queries" ||
		w.ArchivePrefix != "Commons:Queries/Archive/" || w.Mentions != "on" || len(w.MentionPages) != 2 || w.QueryTemplates[0] != "Abfrage" ||
		w.SPARQLEndpoint != "https://commons-query.wikimedia.org/sparql" || w.SPARQLFallback != "" ||
		len(w.Languages) != 2 || w.Languages[0] != "de" || w.Graph != "" {
		t.Errorf("got %+v", w)
	}
	if w.Operator != "Olga" || w.FollowupLimit != 3 {
		t.Error("a setting that is not in the file differs from the main settings")
	}
	if base.WikiPassword.Reveal() != "main-secret" || base.Mentions != "off" {
		t.Error("the main wiki's settings changed")
	}
	for _, tt := range []struct{ text, want string }{
		{"wikis: {a: {apu: x}}", "line 1: field apu not found"},
		{"wikis: {a: {api: ftp://x}}", "a: api: want an address"},
		{"wikis: {a: {api: 'https://x/api.php'}}", "a: user is missing"},
		{"wikis: {a: {languages: [German]}}", `languages: want codes such as de or pt-br, not "German"`},
		{"wikis: {a: {graph: {sparkle: x}}}", `line 1: graph has the keys name, sparql and entity_api, not "sparkle"`},
		{"wikis: {a: {graph: {name: x, sparql: 'https://x/'}}}", "omit sparql and entity_api"},
		{"wikis: {'A b': {}}", "a name consists of lowercase letters"},
		{"wikis: {a: {password: NOWHERE}}", "password: NOWHERE is not set"},
		{"- x", "cannot unmarshal"},
	} {
		_, _, err := base.ReadWikis("w.yaml", []byte(tt.text), getenv)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "w.yaml") {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
	_, wikis, err = base.ReadWikis("w.yaml", []byte("wikis: {a: {api: 'https://x/api.php', user: B@c, password: COMMONS,"+
		" forum: F, stop_page: S, graph: museum}}"), getenv)
	if err == nil && wikis["a"].ArchivePrefix != "" {
		t.Errorf("another wiki's archive: %s", wikis["a"].ArchivePrefix)
	}
	if err != nil || wikis["a"].Graph != "museum" {
		t.Errorf("a graph by its name: %+v, %v", wikis["a"], err)
	}
	if names, _, err := base.ReadWikis("w.yaml", nil, getenv); err != nil || len(names) != 0 {
		t.Errorf("an empty file: %v, %v", names, err)
	}
}

// Like the main wiki's password, the other wikis' passwords may be in the settings file. Each password must be used, so
// that a misspelled key is noticed.
func TestWikiPasswordsInDotEnv(t *testing.T) {
	const file = "WIKIS=w.yaml\nCOMMONS_PASSWORD=from-file\nTOOLS_PASSWORD=unused\nOPERATOR=Olga\n"
	load := func(env ...string) (*Config, error) {
		c, _, err := Load(Source{DotEnv: strings.NewReader(file), Environ: env})
		return c, err
	}
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Secrets(); !slices.Contains(got, "from-file") {
		t.Errorf("the secrets are %q", got)
	}
	const wiki = "{api: 'https://x/api.php', user: B, forum: F, stop_page: S, password: "
	one, two := "commons: "+wiki+"COMMONS_PASSWORD}", "tools: "+wiki+"TOOLS_PASSWORD}"
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	_, _, err = c.ReadWikis("w.yaml", []byte("wikis:\n  "+one), getenv)
	if err == nil || !strings.Contains(err.Error(), ".env:3: unknown key TOOLS_PASSWORD") {
		t.Errorf("a password that no wiki needs: %v", err)
	}
	both := []byte("wikis:\n  " + one + "\n  " + two)
	_, wikis, err := c.ReadWikis("w.yaml", both, getenv)
	if err != nil || wikis["commons"].WikiPassword != "from-file" || wikis["tools"].WikiPassword != "unused" {
		t.Errorf("%v %+v", err, wikis)
	}
	env["COMMONS_PASSWORD"] = "from-env"
	if _, wikis, err = c.ReadWikis("w.yaml", both, getenv); err != nil || wikis["commons"].WikiPassword != "from-env" {
		t.Errorf("%v: the environment does not override the file", err)
	}
	if _, err = load("WIKIS="); err == nil || !strings.Contains(err.Error(), ".env:2: unknown key COMMONS_PASSWORD") {
		t.Errorf("without WIKIS: %v", err)
	}
}
