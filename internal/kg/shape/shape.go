// Package shape says what the members of a class look like in any graph: which predicates they have, how many of them,
// with which values, and what leads to them. It needs no more than a function that runs queries and the graph's
// [kg.Description].
//
//	shape.go         the package's face: what is remembered, and for how long
//	measure.go       shapes measured by queries, whole or on a sample
//	void.go          shapes that a graph publishes about itself
//	wikibase.go      what Wikidata declares about classes and properties
//	check.go         queries compared with shapes: hints, never refusals
//	text.go          shapes and hints in words
//
// Shapes are measured on direct members of a class only. The queries are bounded: each has its own time limit, large
// classes are sampled, and what a query could not say in time is left out with a note.
package shape

// Sources of shapes, see [kg.Shape].
const (
	VoID     = "void"     // the graph's own description of itself
	Endpoint = "endpoint" // queries over all members
	Sample   = "sample"   // queries over some members: those that the graph returns first
)
