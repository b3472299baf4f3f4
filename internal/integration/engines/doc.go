// Package engines contains only tests. With the integration build tag, they compare the dialect and the embedded graph
// with independent SPARQL engines: Virtuoso, Oxigraph, and Blazegraph, which powers Wikidata's query service. They fail
// if an engine is missing; .ci/engines.sh installs all three.
//
// Every query is run on the embedded graph in three forms: as written, printed and reparsed, and translated to standard
// SPARQL. The standard form is also run on Virtuoso and Oxigraph, and the query as written on Blazegraph, all with the
// same data. All must return the same rows. Numbers and dates are compared by value, rows are compared as multisets,
// and the order of rows is compared only if ORDER BY determines it. Queries come from a seeded generator that uses the
// data's own vocabulary, from a list of traps that evaluators fall into (testdata/traps.rq), and, if the reference data
// is available, from its gold queries and forum queries.
//
// If an engine is wrong or lacks a feature, faults_test.go records the fault with a minimal query. A recorded fault
// that no longer occurs fails the test. docs/engines.md describes each fault.
package engines
