package sparql

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Guard rejects anything that must never be sent to an endpoint: an update; a SERVICE whose endpoint is a variable or
// is not allowed; a FROM clause with an IRI that is not allowed, since some engines fetch it; and a call to a wiki
// outside Wikimedia through wikibase:mwapi. Wikidata's own services (label, around, box, mwapi, gas, slice, sample) are
// always allowed. The error is an *[Error] that contains the position. If allow is nil, no endpoint is allowed.
func Guard(q *Query, allow func(iri string) bool) error {
	if q.Form == Update {
		return guardError(q, Span{}, q.Operation, "this is an update ("+q.Operation+"); only reading is allowed",
			"ask with SELECT or ASK")
	}
	allowed := func(t *Term) bool { return allow != nil && t.Kind == Const && allow(t.Value().Value) }
	var err *Error
	Inspect(q, func(n Node) bool {
		if err != nil {
			return false
		}
		switch x := n.(type) {
		case *Dataset:
			if !allowed(x.IRI) {
				err = guardError(q, x.Span, x.IRI.Value().Value, "FROM <"+x.IRI.Value().Value+"> is not allowed",
					"leave FROM out")
			}
		case *Service:
			err = guardService(q, x, allowed)
		}
		return true
	})
	if err != nil {
		return err
	}
	return nil
}

func guardService(q *Query, s *Service, allowed func(*Term) bool) *Error {
	switch s.Kind() {
	case VariableTarget:
		return guardError(q, s.Span, "?"+s.Name.Name, "the address of a SERVICE must not be a variable",
			"write the address out")
	case Federation:
		if !allowed(s.Name) {
			iri := s.Name.Value().Value
			return guardError(q, s.Span, iri, "SERVICE <"+Shorten(iri)+"> is not allowed",
				"leave it out: only known addresses may be queried")
		}
	case MWAPIService:
		for _, p := range s.Params() {
			if p.IRI == rdf.Wikibase+"endpoint" && !wikimediaHost(p.Value) {
				return guardError(q, s.Span, p.Value.Written(), "wikibase:mwapi may only ask Wikimedia's wikis",
					`use an endpoint such as "www.wikidata.org"`)
			}
		}
	}
	return nil
}

// wikimediaHost reports whether t is the host name of a Wikimedia wiki.
func wikimediaHost(t *Term) bool {
	if t.Kind != Const || !t.IsLiteral() {
		return false
	}
	host := strings.ToLower(t.Value().Value)
	for _, c := range host {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	for _, site := range [...]string{"wikidata", "wikipedia", "wikimedia", "wiktionary", "wikisource", "wikibooks",
		"wikiquote", "wikinews", "wikiversity",
		"wikivoyage", "mediawiki"} {
		if host == site+".org" || strings.HasSuffix(host, "."+site+".org") {
			return true
		}
	}
	return false
}

func guardError(q *Query, s Span, found, message, hint string) *Error {
	p := q.Position(s.Start)
	return &Error{Line: p.Line, Column: p.Column, Offset: p.Offset, Found: Shorten(found), Message: message, Hint: hint}
}
