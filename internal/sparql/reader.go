package sparql

// Reader reads queries one after the other into the same memory: twice as fast as [Parse] for those who look at each query once, as the command does with
// a file of queries. The zero Reader is ready for use. It is for one goroutine at a time.
type Reader struct{ p parser }

// Parse reads a query as the function [Parse] does. The query, with every node and comment, is valid until the next call only; its strings stay.
func (r *Reader) Parse(text string) (*Query, error) {
	p := &r.p
	if p.head == nil {
		p.head = &head{}
	}
	*p.head = head{}
	p.arena.reset()
	clear(p.comments)
	p.comments = p.comments[:0]
	p.lexer.pos, p.tok, p.last, p.ahead, p.read = 0, token{}, token{}, 0, 0
	p.depth, p.errs, p.taken, p.blanks, p.mods = 0, nil, 0, 0, nil
	p.declared, p.base = declared{}, ""
	p.labels, p.pattern, p.labelled, p.equated, p.skipTo = nil, 0, false, false, 0
	p.selects.n, p.open.n = 0, 0
	return p.parse(text)
}
