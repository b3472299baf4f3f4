package registry

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Add returns the content of a file with an entry for another graph appended. Everything else is unchanged, including
// comments. file is the file name for messages, and note becomes a comment above the entry. Add returns an error if the
// file already has a graph with that name.
func Add(file string, data []byte, e *Entry, note string) ([]byte, error) {
	var before []*Entry
	indent := 2
	content := bytes.TrimSpace(data)
	if len(content) > 0 && !onlyComments(content) {
		var err error
		if before, err = parse(file, data); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(before, func(o *Entry) bool { return o.Name == e.Name }) {
			return nil, fmt.Errorf("%s already has a graph %s; choose another name with --name, or remove the old one",
				file, e.Name)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		graphs := doc.Content[0].Content[1]
		if doc.Content[0].Style&yaml.FlowStyle != 0 || graphs.Style&yaml.FlowStyle != 0 {
			return nil, fmt.Errorf("%s: graphs uses braces; write each graph on its own lines so that entries can be added", file)
		}
		indent = graphs.Column - 1
	}
	text, err := entryText(e, note, indent)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(data)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	if before == nil {
		out = append(out, "graphs:\n"...)
	}
	out = append(out, text...)
	after, err := parse(file, out)
	if err != nil {
		return nil, fmt.Errorf("the entry does not fit into %s: %w", file, err)
	}
	if len(after) != len(before)+1 || len(before) > 0 && !reflect.DeepEqual(before, after[:len(before)]) {
		return nil, fmt.Errorf("nothing can be appended to %s automatically; add the entry by hand:\n%s", file, text)
	}
	return out, nil
}

func onlyComments(data []byte) bool {
	for line := range bytes.Lines(data) {
		if l := bytes.TrimSpace(line); len(l) > 0 && l[0] != '#' {
			return false
		}
	}
	return true
}

// Text returns the entry in the format of KG_FILE.
func (e *Entry) Text() string {
	text, err := entryText(e, "", 2)
	if err != nil {
		return ""
	}
	return string(text)
}

// entryText formats an entry with the given indentation.
func entryText(e *Entry, note string, indent int) ([]byte, error) {
	body := &yaml.Node{Kind: yaml.MappingNode}
	scalar := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s, Tag: "!!str"} }
	put := func(key string, v *yaml.Node) { body.Content = append(body.Content, scalar(key), v) }
	text := func(key, s string) {
		if s != "" {
			put(key, scalar(s))
		}
	}
	list := func(key string, s []string) {
		if len(s) == 0 {
			return
		}
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, x := range s {
			n.Content = append(n.Content, scalar(x))
		}
		put(key, n)
	}
	mapping := func(key string, m map[string]string) {
		if len(m) == 0 {
			return
		}
		n := &yaml.Node{Kind: yaml.MappingNode}
		var names []string
		for k := range m {
			names = append(names, k)
		}
		slices.Sort(names)
		for _, k := range names {
			n.Content = append(n.Content, scalar(k), scalar(m[k]))
		}
		put(key, n)
	}
	text("title", e.Title)
	text("about", e.About)
	text("endpoint", e.Address)
	text("entities", e.EntityAPI)
	text("dialect", e.Dialect)
	if e.Statements != kg.Plain {
		text("statements", string(e.Statements))
	}
	own := map[string]string{}
	for p, ns := range e.Prefixes {
		if WithPrefixes(kg.Description{Statements: e.Statements}).Prefixes[p] != ns {
			own[p] = ns
		}
	}
	mapping("prefixes", own)
	list("labels", e.Labels)
	list("aliases", e.Aliases)
	list("descriptions", e.Descriptions)
	list("types", e.Types)
	text("subclass", e.Subclass)
	list("languages", e.Languages)
	text("index", e.Index)
	if o := e.OpenSearch; o != nil {
		m := map[string]string{"address": o.Address, "index": o.Index}
		if o.Login != "" {
			m["login"] = o.Login
		}
		mapping("opensearch", m)
	}
	text("void", e.VoID)
	if e.Timeout > 0 {
		text("timeout", e.Timeout.String())
	}
	mapping("headers", e.Headers)
	mapping("params", e.Params)
	list("text2sparql", e.Text2SPARQL)
	if e.Unconfirmed {
		put("unconfirmed", &yaml.Node{Kind: yaml.ScalarNode, Value: "true", Tag: "!!bool"})
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	name := scalar(e.Name)
	name.HeadComment = note
	if err := errors.Join(enc.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, body}}),
		enc.Close()); err != nil {
		return nil, err
	}
	var out []byte
	for line := range bytes.Lines(b.Bytes()) {
		if len(bytes.TrimSpace(line)) > 0 {
			out = append(out, strings.Repeat(" ", indent)...)
		}
		out = append(out, line...)
	}
	return out, nil
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// NameFor derives an unused name for a graph from its URL: the host name without its common parts, or "local" and the
// port.
func NameFor(address string, taken []string) string {
	name := "graph"
	if u, err := url.Parse(address); err == nil {
		parts := strings.Split(strings.ToLower(u.Hostname()), ".")
		parts = slices.DeleteFunc(parts, func(p string) bool {
			return p == "www" || p == "sparql" || p == "query" ||
				p == "data" || p == "lod"
		})
		switch {
		case u.Hostname() == "":
		case strings.Trim(u.Hostname(), "0123456789.:") == "" || u.Hostname() == "localhost":
			name = "local"
			if u.Port() != "" {
				name += "-" + u.Port()
			}
		case len(parts) > 0 && parts[0] != "":
			name = parts[0]
		}
	}
	name = strings.Trim(notName.ReplaceAllString(name, "-"), "-")
	name = name[:min(len(name), 30)]
	for i, base := 2, name; slices.Contains(taken, name) || name == embedded || !graphName.MatchString(name); i++ {
		name = fmt.Sprintf("%s-%d", base, i)
		if !graphName.MatchString(base) {
			base = "graph"
		}
	}
	return name
}

// EntryOf returns an entry for a profile. It returns an error that describes the problem if the name or the address is
// invalid.
func EntryOf(name, address string, p *Profile) (*Entry, error) {
	e := &Entry{Description: p.Description, Address: address}
	e.Name, e.Title = name, name
	if !graphName.MatchString(name) || name == embedded {
		return nil, fmt.Errorf("%q cannot be a graph's name: use up to 40 lower-case letters, digits and hyphens", name)
	}
	text, err := entryText(e, "", 2)
	if err != nil {
		return nil, err
	}
	read, err := parse("the entry", append([]byte("graphs:\n"), text...))
	if err != nil {
		return nil, err
	}
	return read[0], nil
}
