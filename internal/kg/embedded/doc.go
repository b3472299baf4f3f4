// Package embedded is an in-memory knowledge graph that behaves like Wikidata's query service. It offers entity search,
// entity pages, and SPARQL 1.1 with the service's dialect, evaluated on the syntax tree of internal/sparql. It is
// intended for the demo, for tests, and for graphs of up to a few million triples.
//
// A [Builder] reads Turtle and N-Triples and builds a [Graph], which is immutable. Any number of goroutines may query
// it.
//
// # Packages
//
//   - value: terms as values; comparison, order and arithmetic
//   - store: the triples, as term IDs in three sorted permutations, and readers for Turtle and N-Triples
//   - entity: search, labels and entity pages
//   - limit: limits on a query's time and memory
//   - function: the functions of SPARQL and the dialect
//   - httpapi: the graph over HTTP
//
// # How a query is answered
//
// A query becomes a tree of parts (compile.go, group.go, selectq.go), as in the algebra of SPARQL 1.1, section 18. The
// planner turns the parts into operators and uses the store's statistics to choose the order of joins (planner.go).
// Rows are pushed through a plan, not pulled: each operator writes its bindings to the query's single row and calls the
// next operator (exec.go). Therefore, a query without sorting or grouping does not store rows, and it stops as soon as
// no more rows are needed.
//
// An operator receives the bindings that are already known, and must yield its solutions that are compatible with them.
// This is not the bottom-up order of the algebra. The two differ if a part reads a variable that it does not bind in
// every solution (OPTIONAL, MINUS, FILTER, BIND). Therefore, each part records the variables for which it must not
// receive a binding ([info.unsafe]). If such a variable is already bound, the part is evaluated once, separately, and
// joined by hash. Parts are also evaluated this way if that is cheaper, or if they are connected only by a filter such
// as ?a = ?b (hashjoin.go). Rows with unbound cells are also looked up by hash (tableindex.go). EXISTS caches its
// results (exists.go).
//
// A single meter limits a query's time and memory during both planning and execution (package limit).
package embedded
