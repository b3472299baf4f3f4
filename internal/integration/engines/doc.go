// Package engines holds no code: its tests, behind the build tag integration, hold the dialect and the embedded graph
// against SPARQL engines that nobody here wrote: Virtuoso, Oxigraph and Blazegraph, the engine of Wikidata's query
// service. They fail when one is missing; .ci/engines.sh installs all three.
//
// Every query is run on the embedded graph as written. Its printed and re-read form and its form in standard SPARQL run
// there, too; the standard form runs on Virtuoso and Oxigraph, the query as written on Blazegraph, over the same files.
// All must return the same rows by value: numbers and dates are compared as such, rows as bags, their order only as far
// as ORDER BY fixes it. Queries come from a seeded generator over the data's own vocabulary, from a list of the traps
// that evaluators fall into (testdata/traps.rq), and, where the reference data is available, from its gold queries and
// the forum's.
//
// Where an engine is wrong, or lacks something, faults_test.go says so, with the smallest query; a fault that no longer
// shows fails the test. docs/engines.md tells about each.
package engines
