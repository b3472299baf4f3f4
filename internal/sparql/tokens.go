package sparql

import "iter"

// TokenKind is the kind of a [Token].
type TokenKind uint8

// The token kinds that [Tokens] distinguishes.
const (
	// punctuation, operators, language tags, blank node labels, and invalid input
	TokenOther   TokenKind = iota
	TokenWord              // a keyword, a function name, or the predicate a
	TokenVar               // ?x, $x
	TokenName              // wd:Q42
	TokenIRI               // <http://…>
	TokenString            // in any kind of quotation marks, without its language tag or datatype
	TokenNumber            // without a sign
	TokenPercent           // %name, the name of a named subquery
)

// Token is a token of the query text, as written.
type Token struct {
	Kind TokenKind
	Text string
}

// Tokens returns the tokens in text, in order, without white space or comments. The text need not be a query.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		l := lexer{text: text}
		for t := l.next(); t.kind != tEOF; t = l.next() {
			if !yield(Token{tokenKind(t.kind), text[t.start:t.end]}) {
				return
			}
		}
	}
}

func tokenKind(k kind) TokenKind {
	switch k {
	case tWord:
		return TokenWord
	case tVar:
		return TokenVar
	case tName:
		return TokenName
	case tIRI:
		return TokenIRI
	case tString:
		return TokenString
	case tInteger, tDecimal, tDouble:
		return TokenNumber
	case tPercent:
		return TokenPercent
	}
	return TokenOther
}
