package sparql

import "unicode/utf8"

// Span is a node's position in the query text: byte offsets, End exclusive. A node that was not read from text has the
// zero Span.
type Span struct{ Start, End int32 }

// Pos returns the span itself, so that every type that embeds a Span is a [Node].
func (s Span) Pos() Span { return s }

// Node is any node of the tree.
type Node interface{ Pos() Span }

// Position is a human-readable position in the text: Line and Column start at 1, and Column counts characters; Offset
// starts at 0 and counts bytes.
type Position struct{ Offset, Line, Column int }

func positionIn(text string, offset int) Position {
	offset = max(0, min(offset, len(text)))
	p := Position{Offset: offset, Line: 1}
	start := 0
	for i := 0; i < offset; i++ {
		if text[i] == '\n' {
			p.Line++
			start = i + 1
		}
	}
	p.Column = utf8.RuneCountInString(text[start:offset]) + 1
	return p
}

// Position returns the line and column of a byte offset in the query's text.
func (q *Query) Position(offset int32) Position { return positionIn(q.Text, int(offset)) }

// Comment is a comment as written, from # to the end of its line, without the line break. Own reports whether the
// comment is on a line of its own.
type Comment struct {
	Span
	Text string
	Own  bool
}

// Notes are the comments attached to a node: Before on the lines above it, Open after the opening square bracket of a
// property list, and After at the end of its line. A nil *Notes has no comments.
type Notes struct{ Before, Open, After []Comment }

// Form is the form of a query.
type Form uint8

// The query forms. Update is any SPARQL 1.1 Update request. It is not parsed, only recognized so that it can be
// rejected.
const (
	Select Form = iota
	Ask
	Construct
	Describe
	Update
)

// String returns the form in lowercase: select, ask, construct, describe, update.
func (f Form) String() string {
	return [...]string{"select", "ask", "construct", "describe", "update"}[f]
}

// Query is a whole query. Body is never nil, but its projection is empty for ASK, CONSTRUCT and DESCRIBE, and for
// Update the whole Body is empty.
type Query struct {
	Span
	Text      string         // what was parsed
	Prologue  []*Declaration // BASE and PREFIX declarations, in source order
	Form      Form
	Template  []*Triples   // for CONSTRUCT
	Braces    [2][]Comment // comments after the template's opening brace and before its closing brace
	Short     bool         // CONSTRUCT WHERE { … }: the template is the pattern
	Resources []*Term      // for DESCRIBE: variables and IRIs; empty if Body.Star is set
	Datasets  []*Dataset
	Named     []*NamedSubquery
	Body      *SelectQuery
	Operation string    // for Update: its first keyword, such as INSERT
	Header    []Comment // comments before the first token, such as #title: and #defaultView:
	Tail      []Comment // comments after everything
}

// Declaration is a BASE or PREFIX declaration.
type Declaration struct {
	Span
	Notes  *Notes
	Base   bool
	Prefix string // without the colon
	IRI    string // resolved against the base
}

// Dataset is a FROM or FROM NAMED clause.
type Dataset struct {
	Span
	Notes *Notes
	Named bool
	IRI   *Term
}

// NamedSubquery is WITH { SELECT … } AS %Name, Blazegraph's named subquery. QLever's form WITH %Name AS { SELECT … } is
// parsed into the same node.
type NamedSubquery struct {
	Span
	Notes *Notes
	Name  string // without the %
	Query *SelectQuery
	First bool      // written in QLever's form, before SELECT
	Close []Comment // before the closing brace
}

// SelectQuery is the part that top-level queries, sub-selects and named subqueries share: the projection, the pattern
// and the solution modifiers.
type SelectQuery struct {
	Span
	Notes    *Notes
	Distinct bool
	Reduced  bool
	Star     bool // SELECT *, DESCRIBE *
	Items    []*SelectItem
	Where    *Group
	GroupBy  *GroupBy
	Having   *Having
	OrderBy  *OrderBy
	Limit    *Count
	Offset   *Count
	Values   *Values // VALUES after the modifiers, joined with the result
}

// SelectItem is one projected column: a variable, or an expression with the variable it is bound to. Expr is nil for a
// plain variable.
type SelectItem struct {
	Span
	Notes *Notes
	Var   string
	Expr  *Expr
}

// GroupBy is the GROUP BY clause.
type GroupBy struct {
	Span
	Notes *Notes
	Keys  []*GroupKey
}

// GroupKey is one key in a GROUP BY. As is the variable that the expression is bound to in (expr AS ?v), otherwise "".
type GroupKey struct {
	Span
	Notes *Notes
	Expr  *Expr
	As    string
}

// Having is the HAVING clause: all conditions must hold.
type Having struct {
	Span
	Notes      *Notes
	Conditions []*Expr
}

// OrderBy is the ORDER BY clause.
type OrderBy struct {
	Span
	Notes *Notes
	Keys  []*OrderKey
}

// OrderKey is one key in an ORDER BY. Explicit reports whether ASC was written out.
type OrderKey struct {
	Span
	Notes      *Notes
	Expr       *Expr
	Descending bool
	Explicit   bool
}

// Count is the number in a LIMIT or OFFSET clause.
type Count struct {
	Span
	Notes *Notes
	N     int64
}

// Pattern is an element of a group graph pattern.
type Pattern interface {
	Node
	notes() **Notes
}

// Group is a group graph pattern in braces.
type Group struct {
	Span
	Notes    *Notes
	Patterns []Pattern
	braces   *braces
}

// braces contains the comments next to a group's braces.
type braces struct{ open, close []Comment }

// Open returns the comments right after the group's opening brace.
func (x *Group) Open() []Comment {
	if x.braces == nil {
		return nil
	}
	return x.braces.open
}

// Close returns the comments on lines of their own before the group's closing brace.
func (x *Group) Close() []Comment {
	if x.braces == nil {
		return nil
	}
	return x.braces.close
}

// Triples is a subject with its predicate-object lists, up to the dot. Properties is empty for a
// lone property list such as [ … ] .
type Triples struct {
	Span
	Notes      *Notes
	Subject    *Term
	Properties []*Property
}

// Property is a predicate with its objects.
type Property struct {
	Span
	Notes   *Notes
	Path    *Path
	Objects []*Term
}

// Hint is a statement whose subject is in Blazegraph's hint: namespace. It guides the optimizer and never changes the
// result.
type Hint struct {
	Span
	Notes   *Notes
	Triples *Triples
}

// Filter is a FILTER clause.
type Filter struct {
	Span
	Notes *Notes
	Expr  *Expr
}

// Bind is BIND (Expr AS ?Var).
type Bind struct {
	Span
	Notes *Notes
	Expr  *Expr
	Var   string
}

// Values is inline data. Each row has as many cells as Vars; a cell whose Term has Kind Undef leaves its
// variable unbound.
type Values struct {
	Span
	Notes  *Notes
	Vars   []string
	Rows   []*ValuesRow
	Single bool // written VALUES ?x { … }, without parentheses
	Open   []Comment
	Close  []Comment
}

// ValuesRow is a row of inline data.
type ValuesRow struct {
	Span
	Notes *Notes
	Cells []*Term
}

// Optional is an OPTIONAL clause.
type Optional struct {
	Span
	Notes *Notes
	Group *Group
}

// Union is { … } UNION { … } with two or more branches.
type Union struct {
	Span
	Notes    *Notes
	Branches []*Group
}

// Minus is a MINUS clause.
type Minus struct {
	Span
	Notes *Notes
	Group *Group
}

// GraphPattern is GRAPH name { … }; Name is a variable or an IRI.
type GraphPattern struct {
	Span
	Notes *Notes
	Name  *Term
	Group *Group
}

// Service is SERVICE name { … }, including Wikidata's own services; Name is a variable or an IRI.
type Service struct {
	Span
	Notes  *Notes
	Silent bool
	Name   *Term
	Group  *Group
}

// SubSelect is a query inside a group. It is the only pattern in its group.
type SubSelect struct {
	Span
	Notes *Notes
	Query *SelectQuery
}

// Include is INCLUDE %Name: the rows of a named subquery.
type Include struct {
	Span
	Notes *Notes
	Name  string // without the %
}

func (x *Group) notes() **Notes        { return &x.Notes }
func (x *Triples) notes() **Notes      { return &x.Notes }
func (x *Hint) notes() **Notes         { return &x.Notes }
func (x *Filter) notes() **Notes       { return &x.Notes }
func (x *Bind) notes() **Notes         { return &x.Notes }
func (x *Values) notes() **Notes       { return &x.Notes }
func (x *Optional) notes() **Notes     { return &x.Notes }
func (x *Union) notes() **Notes        { return &x.Notes }
func (x *Minus) notes() **Notes        { return &x.Notes }
func (x *GraphPattern) notes() **Notes { return &x.Notes }
func (x *Service) notes() **Notes      { return &x.Notes }
func (x *SubSelect) notes() **Notes    { return &x.Notes }
func (x *Include) notes() **Notes      { return &x.Notes }

// PathKind is the kind of a [Path].
type PathKind uint8

// The path kinds (SPARQL 1.1, section 9).
const (
	PathTerm    PathKind = iota // Term: an IRI, or a variable if that is the whole path
	PathInverse                 // ^ Args[0]
	PathSeq                     // Args[0] / Args[1] / …
	PathAlt                     // Args[0] | Args[1] | …
	PathStar                    // Args[0]*
	PathPlus                    // Args[0]+
	PathOpt                     // Args[0]?
	PathNegated                 // !( … ): Args are PathTerm or PathInverse of PathTerm
)

// Path is a property path.
type Path struct {
	Span
	Kind PathKind
	Term *Term
	Args []*Path
}

// IRI returns the IRI of a plain predicate, or "" for a variable or a more complex path.
func (p *Path) IRI() string {
	if p.Kind == PathTerm && p.Term.Kind == Const {
		return p.Term.Value().Value
	}
	return ""
}

// ExprKind is the kind of an [Expr].
type ExprKind uint8

// The kinds of expression.
const (
	ExprTerm      ExprKind = iota // Term: a variable or a constant
	ExprUnary                     // Op is "!", "-" or "+"; Args[0]
	ExprBinary                    // Op is one of || && = != < > <= >= + - * /; Args[0], Args[1]
	ExprIn                        // Args[0] IN (Args[1:]); Op is "IN" or "NOT IN"
	ExprBuiltin                   // Op is the uppercase name: STRLEN, IF, COALESCE, BOUND …; Args
	ExprFunction                  // Term is the IRI of a function or a cast; Args, Distinct
	ExprAggregate                 // Op is COUNT, SUM, MIN, MAX, AVG, SAMPLE or GROUP_CONCAT; Args[0] unless Star
	ExprExists                    // Op is "EXISTS" or "NOT EXISTS"; Group
)

// Expr is an expression.
type Expr struct {
	Span
	Kind      ExprKind
	Distinct  bool
	Star      bool // COUNT(*)
	Op        string
	Term      *Term
	Args      []*Expr
	Separator *string // for GROUP_CONCAT; a single space if nil
	Group     *Group
}

// Variable returns the variable's name if the expression is a variable, and "" otherwise.
func (e *Expr) Variable() string {
	if e.Kind == ExprTerm && e.Term.Kind == Var {
		return e.Term.Name
	}
	return ""
}

// HasComments reports whether the query's text contains any comments.
func (q *Query) HasComments() bool {
	l := lexer{text: q.Text}
	for t := l.next(); t.kind != tEOF; t = l.next() {
		if len(l.comments) > 0 {
			return true
		}
	}
	return len(l.comments) > 0
}
