package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WikiEntry is an additional wiki in the WIKIS file. Empty fields default to the main settings, except for the account
// and the pages, which must be specified for every wiki.
type WikiEntry struct {
	API      string   `yaml:"api"`
	User     string   `yaml:"user"`
	Password string   `yaml:"password"` // name of the bot password in the environment or in the settings file
	Forum    string   `yaml:"forum"`
	Archive  string   `yaml:"archive"` // like FORUM_ARCHIVE_PREFIX; no archive if empty
	Stop     string   `yaml:"stop_page"`
	OptOut   string   `yaml:"opt_out_page"`
	Operator string   `yaml:"operator"`
	Mentions bool     `yaml:"mentions"`
	Pages    []string `yaml:"mention_pages"`
	// names of the wiki's own templates; Wikidata's if empty
	Templates struct {
		Query    []string `yaml:"query"`
		Resolved []string `yaml:"resolved"`
	} `yaml:"templates"`
	UserNamespaces []string `yaml:"user_namespaces"` // names of the user namespaces in the wiki's languages, in addition to the English names
	// the wiki's language codes; the first is used in replies to users whose language is unknown or has no messages
	Languages []string  `yaml:"languages"`
	Graph     wikiGraph `yaml:"graph"`
}

// wikiGraph is a wiki's graph: either the name of a graph in KG_FILE or the URLs of a Wikibase.
type wikiGraph struct {
	Name      string `yaml:"name"`
	SPARQL    string `yaml:"sparql"`
	EntityAPI string `yaml:"entity_api"`
}

// UnmarshalYAML reads a name or a map with the keys above.
func (g *wikiGraph) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&g.Name)
	}
	for i := 0; i+1 < len(n.Content); i += 2 { // decoding a node does not reject unknown keys
		switch key := n.Content[i]; key.Value {
		case "name", "sparql", "entity_api":
		default:
			return fmt.Errorf("line %d: graph has the keys name, sparql and entity_api, not %q", key.Line, key.Value)
		}
	}
	type plain wikiGraph
	return n.Decode((*plain)(g))
}

var languageCode = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]{2,8})*$`)

var wikiName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// ReadWikis reads the WIKIS file, which contains a map named "wikis" from names to entries. getenv returns the secrets;
// secrets that it does not return come from the settings file, which must not contain passwords that no wiki uses.
// ReadWikis returns the names in order and, for each name, the settings for the bot on that wiki. The error is a
// [Problems].
func (c *Config) ReadWikis(file string, data []byte, getenv func(string) string) ([]string, map[string]*Config, error) {
	var doc struct {
		Wikis map[string]WikiEntry `yaml:"wikis"`
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, Problems{fmt.Errorf("WIKIS: %s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	var problems Problems
	out := map[string]*Config{}
	names := slices.Sorted(maps.Keys(doc.Wikis))
	unused := maps.Clone(c.passwords)
	secret := func(name string) string {
		delete(unused, name)
		return cmp.Or(getenv(name), c.passwords[name].value.Reveal())
	}
	for _, name := range names {
		w, errs := c.with(doc.Wikis[name], secret)
		if !wikiName.MatchString(name) {
			errs = append(errs, errors.New("a name consists of lowercase letters, digits and hyphens, and starts with a letter"))
		}
		for _, err := range errs {
			problems = append(problems, fmt.Errorf("WIKIS: %s: %s: %w", file, name, err))
		}
		out[name] = w
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		problems = append(problems, fmt.Errorf("%s: unknown key %s: no wiki in %s has it as its password", unused[name].at, name,
			file))
	}
	if len(problems) > 0 {
		return nil, nil, problems
	}
	return names, out, nil
}

// with returns the settings for an additional wiki and all problems with those settings.
func (c *Config) with(w WikiEntry, secret func(string) string) (*Config, []error) {
	var problems []error
	one := *c
	one.OAuth, one.OAuth2Token = OAuth{}, ""
	set := func(key string, f field, value string) {
		if err := f.set(&one, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", key, err))
		}
	}
	need := func(key, value string) {
		if strings.TrimSpace(value) == "" {
			problems = append(problems, fmt.Errorf("%s is missing", key))
		}
	}
	need("api", w.API)
	need("user", w.User)
	need("password", w.Password)
	need("forum", w.Forum)
	need("stop_page", w.Stop)
	set("api", urlField(func(c *Config) *string { return &c.WikiAPI }), w.API)
	set("user", strField(func(c *Config) *string { return &c.WikiUser }), w.User)
	set("forum", titleField(func(c *Config) *string { return &c.ForumPage }), w.Forum)
	set("stop_page", titleField(func(c *Config) *string { return &c.StopPage }), w.Stop)
	set("opt_out_page", titleField(func(c *Config) *string { return &c.OptOutPage }), w.OptOut)
	if w.Operator != "" {
		set("operator", userField(func(c *Config) *string { return &c.Operator }), w.Operator)
	}
	set("archive", titleField(func(c *Config) *string { return &c.ArchivePrefix }), w.Archive)
	if len(w.Pages) > 0 {
		set("mention_pages", pagesField(func(c *Config) *[]string { return &c.MentionPages }), strings.Join(w.Pages, ","))
	}
	if w.Graph.Name != "" && w.Graph.SPARQL+w.Graph.EntityAPI != "" {
		problems = append(problems, errors.New("graph: a name refers to a graph in KG_FILE; omit sparql and entity_api"))
	}
	one.Graph = w.Graph.Name
	for _, l := range w.Languages {
		if !languageCode.MatchString(l) {
			problems = append(problems, fmt.Errorf("languages: want codes such as de or pt-br, not %q", l))
		}
	}
	one.Languages = w.Languages
	if w.Graph.SPARQL != "" {
		set("graph: sparql", urlField(func(c *Config) *string { return &c.SPARQLEndpoint }), w.Graph.SPARQL)
		one.SPARQLFallback, one.EntityREST, one.VectorSearch = "", "", "" // these work only with Wikidata
	}
	if w.Graph.EntityAPI != "" {
		set("graph: entity_api", urlField(func(c *Config) *string { return &c.EntityAPI }), w.Graph.EntityAPI)
	}
	one.Mentions, one.DigestPage, one.TracePage = "off", "", "" // the digest for all wikis is on the main wiki
	if w.Mentions {
		one.Mentions = "on"
	}
	if w.Password != "" {
		if one.WikiPassword = Secret(secret(w.Password)); one.WikiPassword == "" {
			problems = append(problems, fmt.Errorf("password: %s is not set: put it in the environment or, if its name ends in "+
				"_PASSWORD, into .env", w.Password))
		}
	}
	one.QueryTemplates, one.ResolvedTemplates = w.Templates.Query, w.Templates.Resolved
	one.UserNamespaces = w.UserNamespaces
	return &one, problems
}
