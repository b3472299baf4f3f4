package sparql

// arena hands out nodes in blocks, so that a query costs few allocations: one piece of memory (a starter) holds the nodes of most queries, and what a query
// needs beside comes in further blocks.
type arena struct {
	terms      block[Term]
	paths      block[Path]
	exprs      block[Expr]
	properties block[Property]
	triples    block[Triples]
	groups     block[Group]
	filters    block[Filter]
	binds      block[Bind]
	optionals  block[Optional]
	services   block[Service]
	items      block[SelectItem]
	rows       block[ValuesRow]
	noteses    block[Notes]
	mores      block[more]
	selections block[SelectQuery]
	modifiers  block[modifierNodes]
	groupKeys  block[GroupKey]
	orderKeys  block[OrderKey]
	patterns   block[Pattern]
	itemPtrs   block[*SelectItem]
	rowPtrs    block[*ValuesRow]
	termPtrs   block[*Term]
	exprPtrs   block[*Expr]
	propPtrs   block[*Property]
	pathPtrs   block[*Path]
	groupPtrs  block[*GroupKey]
	orderPtrs  block[*OrderKey]
}

// head is what every query has.
type head struct {
	query Query
	body  SelectQuery
}

// The starters hold as many nodes of each kind as about half of the real queries of their size hold.
type (
	smallStarter struct {
		head
		terms      [13]Term
		paths      [5]Path
		exprs      [2]Expr
		properties [4]Property
		triples    [4]Triples
		groups     [2]Group
		items      [4]SelectItem
		filters    [1]Filter
		services   [1]Service
		patterns   [7]Pattern
		itemPtrs   [4]*SelectItem
		termPtrs   [4]*Term
		propPtrs   [4]*Property
		exprPtrs   [2]*Expr
		pathPtrs   [2]*Path
	}
	mediumStarter struct {
		head
		terms      [21]Term
		paths      [8]Path
		exprs      [4]Expr
		properties [6]Property
		triples    [5]Triples
		groups     [3]Group
		items      [5]SelectItem
		filters    [1]Filter
		optionals  [1]Optional
		services   [1]Service
		patterns   [12]Pattern
		itemPtrs   [6]*SelectItem
		termPtrs   [6]*Term
		propPtrs   [6]*Property
		exprPtrs   [4]*Expr
		pathPtrs   [3]*Path
	}
	largeStarter struct {
		head
		terms      [31]Term
		paths      [10]Path
		exprs      [9]Expr
		properties [8]Property
		triples    [7]Triples
		groups     [5]Group
		items      [6]SelectItem
		filters    [1]Filter
		optionals  [2]Optional
		services   [1]Service
		binds      [1]Bind
		patterns   [18]Pattern
		itemPtrs   [8]*SelectItem
		termPtrs   [8]*Term
		propPtrs   [8]*Property
		exprPtrs   [7]*Expr
		pathPtrs   [3]*Path
	}
	hugeStarter struct {
		head
		terms      [56]Term
		paths      [15]Path
		exprs      [22]Expr
		properties [12]Property
		triples    [10]Triples
		groups     [7]Group
		items      [8]SelectItem
		filters    [2]Filter
		optionals  [3]Optional
		services   [1]Service
		binds      [2]Bind
		patterns   [32]Pattern
		itemPtrs   [12]*SelectItem
		termPtrs   [14]*Term
		propPtrs   [14]*Property
		exprPtrs   [18]*Expr
		pathPtrs   [4]*Path
	}
)

// plant gives the arena its first blocks for a text of n tokens.
func (a *arena) plant(n int) *head {
	a.terms.size, a.exprs.size = n/8, n/8
	a.filters.size, a.services.size, a.binds.size, a.noteses.size, a.mores.size, a.selections.size, a.modifiers.size = 1, 1, 1, 1, 1, 1, 1
	switch {
	case n <= 40:
		s := &smallStarter{}
		a.terms.items, a.paths.items, a.exprs.items, a.properties.items, a.triples.items = s.terms[:], s.paths[:], s.exprs[:], s.properties[:], s.triples[:]
		a.groups.items, a.items.items, a.filters.items, a.services.items, a.patterns.items = s.groups[:], s.items[:], s.filters[:], s.services[:], s.patterns[:]
		a.itemPtrs.items, a.termPtrs.items, a.propPtrs.items, a.exprPtrs.items, a.pathPtrs.items = s.itemPtrs[:], s.termPtrs[:], s.propPtrs[:], s.exprPtrs[:], s.pathPtrs[:]
		return &s.head
	case n <= 64:
		s := &mediumStarter{}
		a.terms.items, a.paths.items, a.exprs.items, a.properties.items, a.triples.items = s.terms[:], s.paths[:], s.exprs[:], s.properties[:], s.triples[:]
		a.groups.items, a.items.items, a.filters.items, a.optionals.items, a.services.items = s.groups[:], s.items[:], s.filters[:], s.optionals[:], s.services[:]
		a.patterns.items, a.itemPtrs.items, a.termPtrs.items, a.propPtrs.items, a.exprPtrs.items = s.patterns[:], s.itemPtrs[:], s.termPtrs[:], s.propPtrs[:], s.exprPtrs[:]
		a.pathPtrs.items = s.pathPtrs[:]
		return &s.head
	case n <= 100:
		s := &largeStarter{}
		a.terms.items, a.paths.items, a.exprs.items, a.properties.items, a.triples.items = s.terms[:], s.paths[:], s.exprs[:], s.properties[:], s.triples[:]
		a.groups.items, a.items.items, a.filters.items, a.optionals.items, a.services.items = s.groups[:], s.items[:], s.filters[:], s.optionals[:], s.services[:]
		a.binds.items, a.patterns.items, a.itemPtrs.items, a.termPtrs.items, a.propPtrs.items = s.binds[:], s.patterns[:], s.itemPtrs[:], s.termPtrs[:], s.propPtrs[:]
		a.exprPtrs.items, a.pathPtrs.items = s.exprPtrs[:], s.pathPtrs[:]
		return &s.head
	default:
		s := &hugeStarter{}
		a.terms.items, a.paths.items, a.exprs.items, a.properties.items, a.triples.items = s.terms[:], s.paths[:], s.exprs[:], s.properties[:], s.triples[:]
		a.groups.items, a.items.items, a.filters.items, a.optionals.items, a.services.items = s.groups[:], s.items[:], s.filters[:], s.optionals[:], s.services[:]
		a.binds.items, a.patterns.items, a.itemPtrs.items, a.termPtrs.items, a.propPtrs.items = s.binds[:], s.patterns[:], s.itemPtrs[:], s.termPtrs[:], s.propPtrs[:]
		a.exprPtrs.items, a.pathPtrs.items = s.exprPtrs[:], s.pathPtrs[:]
		return &s.head
	}
}

// modifierNodes holds the solution modifiers of one SELECT.
type modifierNodes struct {
	groupBy   GroupBy
	orderBy   OrderBy
	limit     Count
	groupKeys [2]GroupKey
	orderKeys [1]OrderKey
	groupPtrs [2]*GroupKey
	orderPtrs [1]*OrderKey
}

// modifier returns the place of the modifiers of the SELECT in hand.
func (p *parser) modifier() *modifierNodes {
	if p.mods == nil {
		m := p.arena.modifiers.one()
		p.mods = m
		if p.head == nil {
			p.groupKeys.plant(m.groupKeys[:])
			p.orderKeys.plant(m.orderKeys[:])
			p.groupPtrs.plant(m.groupPtrs[:])
			p.orderPtrs.plant(m.orderPtrs[:])
		}
	}
	return p.mods
}

const maxBlock = 512 // values

// reset takes everything back, for another query. A block that was too small has made room for a larger one.
func (a *arena) reset() {
	a.terms.reset()
	a.paths.reset()
	a.exprs.reset()
	a.properties.reset()
	a.triples.reset()
	a.groups.reset()
	a.filters.reset()
	a.binds.reset()
	a.optionals.reset()
	a.services.reset()
	a.items.reset()
	a.rows.reset()
	a.noteses.reset()
	a.mores.reset()
	a.selections.reset()
	a.modifiers.reset()
	a.groupKeys.reset()
	a.orderKeys.reset()
	a.patterns.reset()
	a.itemPtrs.reset()
	a.rowPtrs.reset()
	a.termPtrs.reset()
	a.exprPtrs.reset()
	a.propPtrs.reset()
	a.pathPtrs.reset()
	a.groupPtrs.reset()
	a.orderPtrs.reset()
}

// block is a run of values of which the first have been handed out.
type block[T any] struct {
	items []T
	used  int
	size  int // of the next block
}

// plant gives an empty block its values.
func (b *block[T]) plant(items []T) {
	if b.used == len(b.items) {
		b.items, b.used = items, 0
	}
}

// more makes room for n values.
func (b *block[T]) more(n int) {
	if b.size == 0 {
		b.size = 4
	}
	b.items, b.used = make([]T, max(n, b.size)), 0
	b.size = min(2*len(b.items), maxBlock)
}

// reset takes back what was handed out.
func (b *block[T]) reset() {
	clear(b.items[:b.used])
	b.used = 0
}

// one returns a pointer to a fresh zero value.
func (b *block[T]) one() *T {
	if b.used >= len(b.items) {
		b.more(1)
	}
	x := &b.items[b.used]
	b.used++
	return x
}

// single returns a slice of length one and capacity one that holds x.
func (b *block[T]) single(x T) []T {
	if b.used >= len(b.items) {
		b.more(1)
	}
	i := b.used
	b.used++
	b.items[i] = x
	return b.items[i : i+1 : i+1]
}

// push appends x to s, which lives in the block while it is short: in its place when it was handed out last, else in a new one with room to grow.
func (b *block[T]) push(s []T, x T) []T {
	n := len(s)
	switch {
	case n == 0:
		return b.single(x)
	case n < cap(s) || n >= 32:
		return append(s, x)
	case b.used >= n && b.used < len(b.items) && &b.items[b.used-n] == &s[0]:
		i := b.used
		b.used++
		b.items[i] = x
		return b.items[i-n : i+1 : i+1]
	}
	if len(b.items)-b.used < 2*n {
		b.more(2 * n)
	}
	i := b.used
	b.used += 2 * n
	out := b.items[i : i+n+1 : i+2*n]
	copy(out, s)
	out[n] = x
	return out
}

// few is a stack whose first values need no memory of their own.
type few[T any] struct {
	n     int
	first [8]T
	rest  []T
}

func (f *few[T]) push(x T) {
	if f.n < len(f.first) {
		f.first[f.n] = x
	} else {
		f.rest = append(f.rest[:f.n-len(f.first)], x)
	}
	f.n++
}

func (f *few[T]) at(i int) T {
	if i < len(f.first) {
		return f.first[i]
	}
	return f.rest[i-len(f.first)]
}
