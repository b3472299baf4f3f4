package reply

import "strings"

// Hosts of query services other than Wikidata's ([QueryServices]) whose URLs may contain a query. QLever's short links
// start with the name of the data set: qlever.dev/wikidata/7Xyz1a.
var qleverServices = []string{"qlever.dev", "qlever.cs.uni-freiburg.de", "qlever.informatik.uni-freiburg.de"}

// LinksQuery reports whether a URL is a link to a query. On the given short-link hosts, every page except the front
// page counts, because a short link hides its target. On a query service, the URL must contain a query or be a short
// link to one.
func LinksQuery(address string, hosts []string) bool {
	host, path, params := splitAddress(address)
	if host == "" {
		return false
	}
	switch {
	case hasHost(hosts, host):
		return path != "" || params
	case hasHost(QueryServices, host):
		return params
	case hasHost(qleverServices, host):
		_, short, _ := strings.Cut(path, "/")
		return params || short != "" && !strings.HasPrefix(path, "api/")
	}
	return false
}

// splitAddress splits a web URL: the host in lower case without the port and "www.", the path without surrounding
// slashes, and whether anything follows a "?" or a "#". For other URLs, the host is "".
func splitAddress(address string) (host, path string, params bool) {
	scheme, rest, ok := strings.Cut(address, "//")
	if s := strings.ToLower(scheme); !ok || s != "https:" && s != "http:" && s != "" {
		return "", "", false
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		params = strings.Trim(rest[i:], "?#") != ""
		rest = rest[:i]
	}
	host, path, _ = strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	host = strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(host), "."), "www.")
	return host, strings.Trim(path, "/"), params
}

func hasHost(list []string, host string) bool {
	for _, h := range list {
		if strings.TrimPrefix(strings.ToLower(h), "www.") == host {
			return true
		}
	}
	return false
}
