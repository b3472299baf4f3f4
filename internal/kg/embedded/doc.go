// Package embedded is a knowledge graph in memory that answers like Wikidata's query service: entity search, entity pages, and SPARQL 1.1 with the
// service's dialect, evaluated over the tree of internal/sparql.
//
// A [Builder] reads Turtle and N-Triples and builds a [Graph], which never changes afterwards and may be asked by any number of goroutines.
// It is for the demo, for tests and for graphs of up to some million triples; what is larger belongs on a real server:
// internal/kg/wikidata puts queries to the endpoint that it is given (the settings SPARQL_ENDPOINT and ENTITY_API), through the same interface of the agent. It
// sends them as they are written, so the endpoint must speak the dialect: another copy of the query service, or a sandbox. An engine of plain SPARQL (Virtuoso,
// QLever) refuses prefixes that are not declared and the label service; package harvest rewrites for those, the agent does not.
//
// # How a query is answered
//
// Terms are numbers (dict.go), triples are three sorted permutations of numbers (store.go). A query becomes a plan of operators (plan*.go): the algebra of
// SPARQL 1.1, section 18, with joins in an order chosen from the store's statistics. A plan is pushed, not pulled: every operator writes its bindings into the one
// row of the query and calls what comes next (exec.go), so a query without sorting or grouping holds no rows at all, stops at once where nobody wants more
// rows, and ends by an error that falls through all of it.
//
// An operator is given the bindings that are already known and must yield exactly those of its solutions that are compatible with them. That is not the
// algebra's own bottom-up order, and the two differ where a part looks at a variable that it does not bind in every solution (OPTIONAL, MINUS,
// FILTER, BIND). So every operator knows for which variables it may be given a binding ([info.unsafe]); for others it is evaluated by itself, once, and joined by hash.
// The same is done where going through a part for each row is more work than doing it once, and for parts that only a filter ?a = ?b ties together
// (hashjoin.go); rows with unbound cells are found by hash, too (tableindex.go). What EXISTS answered is remembered by what it looks at (exists.go).
//
// Limits are in exec.go and memory.go: every operator counts its work, and every thousandth step looks at the context; what is kept is counted in bytes, and so
// are the texts that an expression makes on its way.
package embedded
