package sparql

import "strings"

// reference is an IRI reference, split into its components (RFC 3986, section 3; RFC 3987 allows non-ASCII characters
// in them). A component that is present may be empty: <#> has a fragment, <> has none.
type reference struct {
	scheme, authority, path, query, fragment string
	hasAuthority, hasQuery, hasFragment      bool
}

// splitReference splits a reference into its components; every string is a reference (RFC 3986, appendix B).
func splitReference(s string) (r reference) {
	if i := schemeEnd(s); i > 0 {
		r.scheme, s = s[:i], s[i+1:]
	}
	s, r.fragment, r.hasFragment = strings.Cut(s, "#")
	s, r.query, r.hasQuery = strings.Cut(s, "?")
	if strings.HasPrefix(s, "//") {
		r.hasAuthority = true
		r.authority, s = s[2:], ""
		if i := strings.IndexByte(r.authority, '/'); i >= 0 {
			r.authority, s = r.authority[:i], r.authority[i:]
		}
	}
	r.path = s
	return r
}

// schemeEnd returns the offset of the colon after a scheme, or 0 if there is none (section 3.1).
func schemeEnd(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// resolveIRI resolves a reference against a base (section 5.2). If the base is not absolute, the reference is left
// unchanged.
func resolveIRI(base, ref string) string {
	b, r := splitReference(base), splitReference(ref)
	if b.scheme == "" || r.scheme != "" {
		return ref
	}
	r.scheme = b.scheme
	if r.hasAuthority {
		r.path = removeDots(r.path)
		return r.String()
	}
	r.authority, r.hasAuthority = b.authority, b.hasAuthority
	switch {
	case r.path == "":
		r.path = b.path
		if !r.hasQuery {
			r.query, r.hasQuery = b.query, b.hasQuery
		}
	case r.path[0] == '/':
		r.path = removeDots(r.path)
	case b.hasAuthority && b.path == "":
		r.path = removeDots("/" + r.path)
	default:
		r.path = removeDots(b.path[:strings.LastIndexByte(b.path, '/')+1] + r.path)
	}
	return r.String()
}

// removeDots resolves the . and .. segments in a path (section 5.2.4).
func removeDots(path string) string {
	if !strings.Contains(path, ".") {
		return path
	}
	rooted := strings.HasPrefix(path, "/")
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	out := segments[:0]
	for i, s := range segments {
		last := i == len(segments)-1
		if s == ".." && len(out) > 0 {
			out = out[:len(out)-1]
		}
		if s != "." && s != ".." {
			out = append(out, s)
		} else if last {
			out = append(out, "")
		}
	}
	if rooted {
		return "/" + strings.Join(out, "/")
	}
	return strings.Join(out, "/")
}

// String recomposes the reference from its components (section 5.3).
func (r reference) String() string {
	var b strings.Builder
	b.WriteString(r.scheme)
	b.WriteByte(':')
	if r.hasAuthority {
		b.WriteString("//")
		b.WriteString(r.authority)
	}
	b.WriteString(r.path)
	if r.hasQuery {
		b.WriteByte('?')
		b.WriteString(r.query)
	}
	if r.hasFragment {
		b.WriteByte('#')
		b.WriteString(r.fragment)
	}
	return b.String()
}
