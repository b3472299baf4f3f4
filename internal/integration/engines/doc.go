// Package engines has no code: its tests, behind the build tag integration, compare the dialect and the embedded graph
// with independent SPARQL engines: Virtuoso, Oxigraph and Blazegraph, the engine of Wikidata's query service. They fail
// if one is missing; .ci/engines.sh installs all three.
//
// Every query is run on the embedded graph as written. Its printed and re-read form and its form in standard SPARQL run
// there, too; the standard form runs on Virtuoso and Oxigraph, the query as written on Blazegraph, over the same files.
// All must return the same rows by value: numbers and dates are compared as such, rows as bags, their order only as far
// as ORDER BY fixes it. Queries come from a seeded generator over the data's own vocabulary, from a list of the traps
// that evaluators fall into (testdata/traps.rq), and, where the reference data is available, from its gold queries and
// the forum's.
//
// Where an engine is wrong or lacks something, faults_test.go records it with a minimal query; a fault that no longer
// occurs fails the test. docs/engines.md describes each.
package engines
