// Package code measures Go source without compiling it: lines, exported names, complexity, and how far a value travels
// inside a package.
package code

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tree contains the measurements of a source tree.
type Tree struct {
	Packages  []*Package // by path
	Functions []Function
}

// Package is the code in one folder, without tests.
type Package struct {
	Path       string // slash-separated path relative to the root of the tree
	Doc        string // the package comment
	FileLines  []int  // lines of each file
	Lines      int
	Code       int // lines with at least one token; comments and empty lines do not count
	Wide       int // lines over [MaxColumns]
	Exported   int // number of exported names: constants, variables, types, functions, methods of exported types
	Documented int // number of exported names with a comment
	Complexity int // complexity of the most complex function
	decls      map[string]*ast.FuncDecl
	statements []string // see [Compare]
}

// Function is a declared function or method.
type Function struct {
	Pos        token.Position
	Name       string // with the receiver type in front: "Bot.solve"
	Doc        string
	Lines      int
	Complexity int
}

// MaxColumns is the maximum width of a line. A tab counts as four columns.
const MaxColumns = 120

// Read reads all Go files below dir, except tests, generated files and the folders that Go ignores.
func Read(dir string) (*Tree, error) {
	t := &Tree{}
	fset := token.NewFileSet()
	byPath := map[string]*Package{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != dir && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") ||
				strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, path, src, parser.ParseComments)
		if err != nil {
			return err
		}
		if ast.IsGenerated(f) {
			return nil
		}
		rel, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		p := byPath[rel]
		if p == nil {
			p = &Package{Path: filepath.ToSlash(rel), decls: map[string]*ast.FuncDecl{}}
			byPath[rel] = p
			t.Packages = append(t.Packages, p)
		}
		p.Doc += f.Doc.Text()
		p.add(src)
		t.Functions = append(t.Functions, p.declarations(fset, f)...)
		return nil
	})
	slices.SortFunc(t.Packages, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return t, err
}

// add counts the lines in a file.
func (p *Package) add(src []byte) {
	lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
	p.FileLines = append(p.FileLines, len(lines))
	p.Lines += len(lines)
	for _, l := range lines {
		if utf8.RuneCountInString(l)+3*strings.Count(l, "\t") > MaxColumns {
			p.Wide++
		}
	}
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	seen := map[int]bool{}
	var statement []string
	end := func() {
		if len(statement) > 0 {
			p.statements = append(p.statements, strings.Join(statement, " "))
		}
		statement = nil
	}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		switch {
		case tok == token.SEMICOLON || tok == token.LBRACE || tok == token.RBRACE:
			end()
		case tok.IsLiteral():
			statement = append(statement, lit)
		case tok != token.COMMA: // ignore commas, because a list split across lines has an additional one
			statement = append(statement, tok.String())
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		for l := first; l <= first+strings.Count(lit, "\n"); l++ {
			seen[l] = true
		}
	}
	p.Code += len(seen)
}

// declarations counts exported names and returns the functions.
func (p *Package) declarations(fset *token.FileSet, f *ast.File) []Function {
	var out []Function
	name := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if !id.IsExported() {
			return
		}
		p.Exported++
		if slices.ContainsFunc(docs, func(g *ast.CommentGroup) bool { return g != nil }) {
			p.Documented++
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					name(s.Name, d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						name(id, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		case *ast.FuncDecl:
			full, r := d.Name.Name, receiver(d)
			if r != "" {
				full = r + "." + full
			}
			if r == "" || ast.IsExported(r) {
				name(d.Name, d.Doc)
			}
			p.decls[full] = d
			from, to := fset.Position(d.Pos()), fset.Position(d.End())
			c := complexity(d)
			p.Complexity = max(p.Complexity, c)
			out = append(out, Function{Pos: from, Name: full, Doc: d.Doc.Text(), Lines: to.Line - from.Line + 1, Complexity: c})
		}
	}
	return out
}

// receiver returns the name of a method's receiver type, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// complexity returns a function's cyclomatic complexity (McCabe), including function literals inside it: one, plus one
// for each if, for, && and ||, and for each switch or select case other than default.
func complexity(d *ast.FuncDecl) int {
	n := 1
	count := func(b bool) {
		if b {
			n++
		}
	}
	ast.Inspect(d, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			count(x.List != nil)
		case *ast.CommClause:
			count(x.Comm != nil)
		case *ast.BinaryExpr:
			count(x.Op == token.LAND || x.Op == token.LOR)
		}
		return true
	})
	return n
}
