// Package sparql parses and prints SPARQL as Wikidata's users write it: SPARQL 1.1 Query (W3C Recommendation of 21
// March 2013) with the extensions of the Wikidata Query Service and all deviations from the standard that its engine,
// Blazegraph, accepts. It performs no I/O: it turns text into trees, and trees into text.
//
// # From text to tree
//
// [Parse] turns text into a [Query], or returns [Errors] that say where each mistake is, what was found, what was
// expected and how to correct it. [Query.String] and [Print] write the canonical layout; printing a printed query
// changes nothing. Names are resolved: an undeclared prefix is assumed to be one of Wikidata's ([rdf.Prefixes]).
//
// # The tree
//
//	Query            form, prologue, CONSTRUCT template, DESCRIBE resources, dataset, named subqueries
//	└ Body *Select   projection, Where *Group, GroupBy, Having, OrderBy, Limit, Offset, Values
//	   └ *Group      Patterns in the order written, each one of
//	      *Triples   one subject with its predicate-object lists; the Triples method returns flat triples
//	      *Hint      an optimizer hint (hint:Prior …), with no effect on the result
//	      *Filter *Bind *Values *Optional *Union *Minus *GraphPattern *Service *SubSelect *Include *Group
//
// A query in braces, { SELECT … }, is a *Group with one *SubSelect. A *Union has two or more groups. A group's patterns
// are in textual order; the evaluator applies SPARQL's algebra, section 18.2.2 (filters apply to their whole group,
// BIND ends a basic graph pattern).
//
// The subject and object of a triple are each a [*Term]: a variable (Name without ? or $), a constant ([Term.Value]), a
// blank node, a property list in square brackets or a collection. The predicate is a [*Path]; a plain predicate is a
// Path of kind PathTerm. Expressions are [*Expr]. A blank node acts as a variable that cannot be projected; anonymous
// blank nodes get names that start with a dot, so that they never collide with a written label.
//
// Every node has its [Span] in the text, in bytes; [Query.Position] returns the line and column. Nodes created by a
// rewrite have the zero Span. A comment belongs to the node on its line, or to the one below it ([Notes]).
//
// A SERVICE of any kind is a *Service: [Service.Kind] distinguishes the label service, around, box, mwapi, gas, slice,
// sample and federation. [Service.Params] returns its bd:serviceParam settings, and [Service.Rest] the other patterns.
//
// This package has over 6,000 lines: the tokens, the grammar, the tree and the printer share unexported types. Code
// that only reads or changes a finished tree is in separate packages.
package sparql
