package registry

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// opensearch reads the location of an OpenSearch index.
func (r *reader) opensearch(e *Entry, path string, v *yaml.Node) {
	o := &OpenSearch{}
	r.mapping(v, path, func(key string, k, v *yaml.Node) {
		at := path + "." + key
		switch key {
		case "address":
			o.Address = r.address(at, v)
			if u, err := url.Parse(o.Address); err == nil && u.RawQuery != "" {
				r.wrong(v, at, "the address of OpenSearch has no parameters")
			}
		case "index":
			if o.Index = r.text(at, v); o.Index != "" && !indexName.MatchString(o.Index) {
				r.wrong(v, at, "%.40q is not the name of an index: use lower-case letters, digits and hyphens", o.Index)
			}
		case "login":
			if o.Login = r.text(at, v); o.Login != "" && !envName.MatchString(strings.TrimPrefix(o.Login, "$")) ||
				!strings.HasPrefix(o.Login, "$") {
				r.wrong(v, at, "want the name of an environment variable that holds user:password, such as $SEARCH_LOGIN; the value itself does not belong here")
			}
		default:
			r.wrong(k, at, "unknown key; the keys are: address, index, login")
		}
	})
	if v.Kind == yaml.MappingNode {
		for _, have := range []struct{ key, value, what string }{{"address", o.Address, "such as http://127.0.0.1:9200"},
			{"index", o.Index, "the name of the index"}} {
			if have.value == "" && !r.said(path+"."+have.key) {
				r.wrong(v, path+"."+have.key, "the key is missing: %s", have.what)
			}
		}
	}
	e.OpenSearch = o
}

// said reports whether a mistake has been recorded for a key.
func (r *reader) said(key string) bool {
	return slices.ContainsFunc(r.mistakes, func(m Mistake) bool { return m.Key == key })
}

// headers reads header names and the names of environment variables that contain their values. The dollar sign is
// required. Otherwise, a secret key made of letters and digits could be mistaken for a name and shown.
func (r *reader) headers(e *Entry, path string, v *yaml.Node) {
	e.Headers = map[string]string{}
	r.mapping(v, path, func(name string, k, v *yaml.Node) {
		s := r.text(path+"."+name, v)
		variable, isVariable := strings.CutPrefix(s, "$")
		switch {
		case !headerName.MatchString(name) || strings.EqualFold(name, "Host") || strings.EqualFold(name, "User-Agent"):
			r.wrong(k, path, "%.40q cannot be set as a header", name)
		case s == "":
		case !isVariable || !envName.MatchString(variable):
			r.wrong(v, path+"."+name, "want the name of an environment variable that holds the value, such as $COMPANY_KEY; the value itself does not belong here")
		default:
			e.Headers[name] = s
		}
	})
}

// params reads values, or names of environment variables preceded by a dollar sign.
func (r *reader) params(e *Entry, path string, v *yaml.Node) {
	e.Params = map[string]string{}
	r.mapping(v, path, func(name string, k, v *yaml.Node) {
		s := r.text(path+"."+name, v)
		variable, isVariable := strings.CutPrefix(s, "$")
		switch {
		case name == "query" || name == "update":
			r.wrong(k, path, "%q is the query's own parameter", name)
		case s == "":
		case isVariable && !envName.MatchString(variable):
			r.wrong(v, path+"."+name, "%.40q does not name an environment variable", s)
		case !isVariable && secretName.MatchString(name):
			r.wrong(v, path+"."+name, "this looks like a secret; name an environment variable that holds it: $NAME")
		default:
			e.Params[name] = s
		}
	})
}

// Secrets returns the values of an entry's headers and parameters. lookup looks up environment variables. The error
// names the variables that are not set.
func (e *Entry) Secrets(lookup func(name string) (string, bool)) (headers, params map[string]string, err error) {
	headers, params = map[string]string{}, map[string]string{}
	var missing []error
	get := func(name string) string {
		v, ok := lookup(name)
		if !ok || v == "" {
			missing = append(missing, fmt.Errorf("the graph %s requires the environment variable %s, which is not set", e.Name,
				name))
		}
		return v
	}
	for h, v := range e.Headers {
		headers[h] = get(strings.TrimPrefix(v, "$"))
	}
	for p, v := range e.Params {
		if name, ok := strings.CutPrefix(v, "$"); ok {
			v = get(name)
		}
		params[p] = v
	}
	return headers, params, errors.Join(missing...)
}

// SearchLogin returns the user name and password for the entry's OpenSearch server, or "" if none are needed. lookup
// looks up environment variables.
func (e *Entry) SearchLogin(lookup func(name string) (string, bool)) (user, password string, err error) {
	name := strings.TrimPrefix(e.OpenSearch.Login, "$")
	if name == "" {
		return "", "", nil
	}
	v, _ := lookup(name)
	user, password, ok := strings.Cut(v, ":")
	if !ok {
		return "", "", fmt.Errorf("the graph %s requires user:password in the environment variable %s", e.Name, name)
	}
	return user, password, nil
}
