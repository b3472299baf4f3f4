package httpapi

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/httpjson"
	"github.com/spinachbot/spinachbot/internal/index"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// EntityAPI serves the entity actions of api.php and Special:EntityData from a graph.
type EntityAPI struct {
	lg    *slog.Logger
	graph *embedded.Graph
}

// NewEntityAPI returns an entity API for a graph.
func NewEntityAPI(lg *slog.Logger, g *embedded.Graph) *EntityAPI { return &EntityAPI{lg: lg, graph: g} }

type object = map[string]any

// Searches reports whether a request uses the wiki's own search to find items or properties: action=query and
// list=search in their namespaces. It examines only the URL.
func Searches(r *http.Request) bool {
	q := r.URL.Query()
	return q.Get("action") == "query" && q.Get("list") == "search" && namespaces[q.Get("srnamespace")] != ""
}

// namespaces maps Wikidata's namespace numbers to entity types.
var namespaces = map[string]kg.Type{"0": kg.Item, "120": kg.Property}

// Serve answers the request if its action belongs to the API (wbsearchentities, wbgetentities, or a query for which
// [Searches] is true), and reports whether it did. Parameters are read from the URL and the form.
func (h *EntityAPI) Serve(w http.ResponseWriter, r *http.Request, action string) bool {
	switch action {
	case "wbsearchentities":
		h.search(w, r)
	case "wbgetentities":
		h.entities(w, r)
	default:
		if action != "query" || !Searches(r) {
			return false
		}
		h.fullText(w, r)
	}
	return true
}

// fullText serves list=search, which finds items or properties whose names contain the words.
func (h *EntityAPI) fullText(w http.ResponseWriter, r *http.Request) {
	typ := namespaces[r.FormValue("srnamespace")]
	res, err := h.graph.Find(r.Context(), kg.FindQuery{Text: r.FormValue("srsearch"), Type: typ,
		Limit: min(max(number(r.FormValue("srlimit"), 10), 1), 50), External: true})
	if err != nil {
		apiError(w, "internal_api_error", err.Error())
		return
	}
	list := []object{}
	for _, hit := range res.Hits {
		title, ns := hit.ID, 0
		if typ == kg.Property {
			title, ns = "Property:"+hit.ID, 120
		}
		list = append(list, object{"ns": ns, "title": title})
	}
	httpjson.Write(w, http.StatusOK, object{"batchcomplete": "", "query": object{"search": list}})
}

// ServeHTTP serves an api.php that supports only the entity actions.
func (h *EntityAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.Serve(w, r, r.FormValue("action")) {
		apiError(w, "badvalue", "Unrecognized value for parameter \"action\": only wbsearchentities and wbgetentities are served here.")
	}
}

func apiError(w http.ResponseWriter, code, info string) {
	w.Header().Set("MediaWiki-API-Error", code)
	httpjson.Write(w, http.StatusOK, object{"error": object{"code": code, "info": info}})
}

// search serves action=wbsearchentities.
func (h *EntityAPI) search(w http.ResponseWriter, r *http.Request) {
	text, lang := r.FormValue("search"), r.FormValue("language")
	if text == "" || lang == "" {
		apiError(w, "missingparam", "The \"search\" and \"language\" parameters must be set.")
		return
	}
	kind := kg.Type(r.FormValue("type"))
	if kind == "" {
		kind = kg.Item
	}
	if kind != kg.Item && kind != kg.Property {
		apiError(w, "badvalue", "Unrecognized value for parameter \"type\": item and property are served here.")
		return
	}
	limit := number(r.FormValue("limit"), 7)
	if r.FormValue("limit") == "max" {
		limit = 50
	}
	skip := number(r.FormValue("continue"), 0)
	limit = min(max(limit, 1), 50)
	res, err := h.graph.Search(r.Context(), kg.SearchQuery{Text: text, Language: lang, Type: kind, Limit: min(skip+limit,
		50)})
	if err != nil {
		apiError(w, "internal_api_error", err.Error())
		return
	}
	hits := res.Hits[min(skip, len(res.Hits)):]
	list := make([]object, 0, len(hits))
	for _, hit := range hits {
		list = append(list, searchHit(hit, lang))
	}
	out := object{"searchinfo": object{"search": text}, "search": list, "success": 1}
	if res.More && skip+limit < 50 {
		out["search-continue"] = skip + limit
	}
	httpjson.Write(w, http.StatusOK, out)
}

func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return otherwise
	}
	return min(n, 10_000)
}

func searchHit(hit kg.Hit, lang string) object {
	title, path := hit.ID, hit.ID
	if hit.Type == kg.Property {
		title, path = "Property:"+hit.ID, "Property:"+hit.ID
	}
	match := object{"type": hit.MatchType, "text": hit.MatchText}
	if hit.MatchLanguage != "" {
		match["language"] = hit.MatchLanguage
	}
	o := object{"id": hit.ID, "title": title, "repository": "wikidata", "url": "//www.wikidata.org/wiki/" + path,
		"concepturi": rdf.Entity + hit.ID, "match": match}
	display := object{}
	if hit.Label != "" {
		o["label"] = hit.Label
		display["label"] = object{"value": hit.Label, "language": lang}
	}
	if hit.Description != "" {
		o["description"] = hit.Description
		display["description"] = object{"value": hit.Description, "language": lang}
	}
	o["display"] = display
	if hit.Datatype != "" {
		o["datatype"] = hit.Datatype
	}
	if hit.MatchType == "alias" {
		o["aliases"] = []string{hit.MatchText}
	}
	return o
}

// entities serves action=wbgetentities.
func (h *EntityAPI) entities(w http.ResponseWriter, r *http.Request) {
	ids := strings.FieldsFunc(r.FormValue("ids"), func(c rune) bool { return c == '|' || c == '\x1f' })
	if len(ids) == 0 {
		apiError(w, "param-missing", "Either provide the Item \"ids\" or pairs of \"sites\" and \"titles\" for corresponding pages.")
		return
	}
	if len(ids) > 50 {
		apiError(w, "toomanyvalues", "Too many values supplied for parameter \"ids\". The limit is 50.")
		return
	}
	for _, num := range ids {
		if !rdf.ValidID(num) {
			apiError(w, "no-such-entity", "Could not find an entity with the ID \""+num+"\".")
			return
		}
	}
	props := map[string]bool{}
	for _, p := range strings.Split(r.FormValue("props"), "|") {
		props[p] = true
	}
	if r.FormValue("props") == "" {
		for _, p := range []string{"info", "sitelinks", "aliases", "labels", "descriptions", "claims", "datatype"} {
			props[p] = true
		}
	}
	var langs []string
	if l := r.FormValue("languages"); l != "" {
		langs = strings.Split(l, "|")
	}
	out := object{}
	for _, num := range ids {
		e, err := h.entity(r, num, props, langs, r.FormValue("languagefallback") != "" &&
			r.FormValue("languagefallback") != "0")
		if err != nil {
			out[num] = object{"id": num, "missing": ""}
			continue
		}
		out[num] = e
	}
	httpjson.Write(w, http.StatusOK, object{"entities": out, "success": 1})
}

// entity returns an entity in JSON form.
func (h *EntityAPI) entity(r *http.Request, num string, props map[string]bool, langs []string, fallback bool) (object,
	error) {
	page, err := h.graph.Page(r.Context(), num, "en", true)
	if err != nil {
		return nil, err
	}
	names, err := h.graph.Names(num)
	if err != nil {
		return nil, err
	}
	e := object{"type": string(page.Type), "id": page.ID}
	if page.Type == kg.Property && (props["datatype"] || props["info"]) {
		e["datatype"] = page.Datatype
	}
	if props["info"] {
		e["title"], e["ns"] = page.ID, 0
		if page.Type == kg.Property {
			e["title"], e["ns"] = "Property:"+page.ID, 120
		}
		e["lastrevid"] = 1
	}
	if props["labels"] {
		e["labels"] = texts(names.Labels, langs, fallback)
	}
	if props["descriptions"] {
		e["descriptions"] = texts(names.Descriptions, langs, fallback)
	}
	if props["aliases"] {
		e["aliases"] = aliases(names.Aliases, langs)
	}
	if props["claims"] {
		e["claims"] = claims(page)
	}
	if props["sitelinks"] || props["sitelinks/urls"] {
		e["sitelinks"] = object{}
	}
	return e, nil
}

// texts returns labels or descriptions by language: all of them, or those in the requested languages, with fallbacks if
// requested.
func texts(all map[string]string, langs []string, fallback bool) object {
	out := object{}
	if langs == nil {
		for l, t := range all {
			out[l] = object{"language": l, "value": t}
		}
		return out
	}
	for _, want := range langs {
		chain := []string{want}
		if fallback {
			chain = index.Chain(want)
		}
		for _, l := range chain {
			if t, ok := all[strings.ToLower(l)]; ok {
				o := object{"language": l, "value": t}
				if l != want {
					o["for-language"] = want
				}
				out[want] = o
				break
			}
		}
	}
	return out
}

func aliases(all map[string][]string, langs []string) object {
	out := object{}
	for l, list := range all {
		wanted := langs == nil
		for _, w := range langs {
			wanted = wanted || strings.EqualFold(w, l)
		}
		if !wanted {
			continue
		}
		var as []object
		for _, a := range list {
			as = append(as, object{"language": l, "value": a})
		}
		out[l] = as
	}
	return out
}

// EntityData serves Special:EntityData. The URL path ends with the ID, optionally followed by .json.
func (h *EntityAPI) EntityData(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	name = strings.TrimPrefix(name, "Special:EntityData")
	num, ext, _ := strings.Cut(name, ".")
	num = strings.ToUpper(num)
	if !rdf.ValidID(num) {
		http.Error(w, "Bad request: "+strconv.Quote(num)+" is not the ID of an entity.", http.StatusBadRequest)
		return
	}
	if ext == "" {
		http.Redirect(w, r, num+".json", http.StatusSeeOther)
		return
	}
	if ext != "json" {
		http.Error(w, "Only .json is served here.", http.StatusUnsupportedMediaType)
		return
	}
	props := map[string]bool{"info": true, "sitelinks": true, "aliases": true, "labels": true, "descriptions": true,
		"claims": true, "datatype": true}
	e, err := h.entity(r, num, props, nil, false)
	if err != nil {
		http.Error(w, "Not found: there is no entity "+num+" here.", http.StatusNotFound)
		return
	}
	key, _ := e["id"].(string)
	httpjson.Write(w, http.StatusOK, object{"entities": object{key: e}})
}
