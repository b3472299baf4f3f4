package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// readsErrorText lists the functions that may examine the text of an error, by package and name, with the reason. A row
// that no function needs is an error, too. The body of a remote service's response is not one of our errors until a
// client has read it. If the protocol has no code for a failure, internal/llm and internal/kg/wikidata search such
// bodies for words, and a comment there explains why.
var readsErrorText = map[string]string{
	"agent/event Ending":                   "trajectories of the first version contain texts but no causes",
	"agent/event oldError":                 "same as Ending",
	"agent/event oldLimit":                 "same as Ending",
	"agent/tool sentence":                  "forms a sentence; no decision depends on it",
	"internal/kg/registry syntax":          "the YAML library reports the line of a mistake only in its text; no decision depends on it",
	"internal/text jsonWords":              "encoding/json has no type for an unknown member; no decision depends on it",
	"internal/politehttp Error":            "compares a text with itself after secrets were removed",
	"internal/kg/kgtest testQueryFailures": "a test of what the text shows",
}

// A run's endings and errors are distinguished by type: rewording a message must not change what the program does. The
// test finds code that compares or searches err.Error(), a Detail field or a Message field, even if the text was
// assigned to a variable or passed as a parameter within the same package.
func TestNothingIsToldApartByTheTextOfAnError(t *testing.T) {
	used := map[string]bool{}
	for name, pkg := range packages(t) {
		var files []*ast.File
		fset := token.NewFileSet()
		for _, f := range pkg.GoFiles {
			parsed, err := parser.ParseFile(fset, filepath.Join("../..", filepath.FromSlash(name), f), nil,
				parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, parsed)
		}
		for _, use := range errorTexts(fset, files) {
			at := use.at
			key := name + " " + use.function
			if _, ok := readsErrorText[key]; ok {
				used[key] = true
				continue
			}
			t.Errorf("%s/%s:%d: %s tells errors apart by their text: use errors.Is, errors.As or agent.Ending", name,
				filepath.Base(at.Filename), at.Line, use.function)
		}
	}
	for key := range readsErrorText {
		if !used[key] {
			t.Errorf("the exception for %s is no longer needed", key)
		}
	}
}

// The check finds every use of error text, and nothing else.
func TestErrorTextsAreFound(t *testing.T) {
	src, err := os.ReadFile("testdata/errtext.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "errtext.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []int
	for _, use := range errorTexts(fset, []*ast.File{f}) {
		got = append(got, use.at.Line)
	}
	for i, line := range strings.Split(string(src), "\n") {
		if strings.Contains(line, "// found") {
			want = append(want, i+1)
		}
	}
	sort.Ints(got)
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("found in lines %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("found in lines %v, want %v", got, want)
			break
		}
	}
}

// textUse is a position in the code that examines the text of an error.
type textUse struct {
	at       token.Position
	function string
}

// errorTexts finds the positions in a package's files that examine the text of an error.
func errorTexts(fset *token.FileSet, files []*ast.File) []textUse {
	s := &textSearch{functions: map[string]*ast.FuncDecl{}, params: map[string]map[int]bool{}}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				s.all = append(s.all, fn)
				s.functions[fn.Name.Name] = fn
			}
		}
	}
	for {
		s.changed = false
		var uses []textUse
		for _, fn := range s.all {
			for _, pos := range s.function(fn) {
				uses = append(uses, textUse{fset.Position(pos), fn.Name.Name})
			}
		}
		if !s.changed {
			return uses
		}
	}
}

// textSearch tracks error text through the functions of a package.
type textSearch struct {
	all       []*ast.FuncDecl
	functions map[string]*ast.FuncDecl
	params    map[string]map[int]bool // parameters that receive error text, by function
	changed   bool
}

// searching lists the functions and methods that search a string: those in package strings and in package regexp.
var searching = map[string]bool{
	"Contains": true, "ContainsAny": true, "HasPrefix": true, "HasSuffix": true, "Index": true, "LastIndex": true,
	"EqualFold": true, "Cut": true,
	"CutPrefix": true, "CutSuffix": true, "Count": true, "MatchString": true, "FindString": true, "FindStringIndex": true,
	"FindStringSubmatch": true,
}

// function returns the positions where fn searches or compares error text, and records the functions to which fn passes
// error text.
func (s *textSearch) function(fn *ast.FuncDecl) (found []token.Pos) {
	texts := map[string]bool{} // variables that contain error text
	i := 0
	for _, field := range fn.Type.Params.List {
		for _, n := range field.Names {
			if s.params[fn.Name.Name][i] {
				texts[n.Name] = true
			}
			i++
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				if left, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); ok && isText(texts, right) {
					texts[left.Name] = true
				}
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && !isEmpty(n.X) && !isEmpty(n.Y) && (isText(texts, n.X) ||
				isText(texts, n.Y)) {
				found = append(found, n.Pos())
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isText(texts, n.Tag) {
				found = append(found, n.Pos())
			}
		case *ast.CallExpr:
			if s.call(texts, n) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

// call reports whether a call searches error text. If the text is passed to a function in this package, call records
// that the parameter is error text.
func (s *textSearch) call(texts map[string]bool, c *ast.CallExpr) bool {
	for i, arg := range c.Args {
		if !isText(texts, arg) {
			continue
		}
		switch f := c.Fun.(type) {
		case *ast.SelectorExpr:
			if searching[f.Sel.Name] && !isLineEnd(c.Args[len(c.Args)-1]) {
				return true
			}
			s.hand(f.Sel.Name, i, f.X)
		case *ast.Ident:
			s.hand(f.Name, i, nil)
		}
	}
	return false
}

// hand records that a function in this package receives error text. Methods are matched by name.
func (s *textSearch) hand(name string, param int, receiver ast.Expr) {
	fn, ok := s.functions[name]
	if !ok || (receiver == nil) != (fn.Recv == nil) || s.params[name][param] {
		return
	}
	if s.params[name] == nil {
		s.params[name] = map[int]bool{}
	}
	s.params[name][param], s.changed = true, true
}

// isText reports whether an expression is the text of an error, or is built from one.
func isText(texts map[string]bool, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return texts[e.Name]
	case *ast.ParenExpr:
		return isText(texts, e.X)
	case *ast.StarExpr:
		return isText(texts, e.X)
	case *ast.SliceExpr:
		return isText(texts, e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name == "Detail" || e.Sel.Name == "Message"
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(texts, e.X) || isText(texts, e.Y))
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if f.Sel.Name == "Error" && len(e.Args) == 0 {
			return true
		}
		if p, ok := f.X.(*ast.Ident); !ok || p.Name != "strings" && p.Name != "fmt" || searching[f.Sel.Name] {
			return false
		}
		for _, arg := range e.Args {
			if isText(texts, arg) {
				return true
			}
		}
	}
	return false
}

// isEmpty reports whether e is "" or nil: code may check whether there is any text.
func isEmpty(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value == `""`
	case *ast.Ident:
		return e.Name == "nil"
	}
	return false
}

// isLineEnd reports whether e is a line break: code that searches for a line break only splits the text and makes no
// decision based on its words.
func isLineEnd(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	return ok && l.Value == `"\n"`
}
