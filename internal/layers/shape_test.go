package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The shape that code here keeps, so that a reader can hold each piece in mind.
const (
	medianLines = 10  // half of all functions have at most so many lines
	ninthLines  = 40  // nine in ten
	fileLines   = 500 // every file
)

// lengths gives the lines of every function body and of every file that is no test.
func lengths(t *testing.T) (functions []int, files map[string]int) {
	t.Helper()
	files = map[string]int{}
	set := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files[path] = set.File(f.Pos()).LineCount()
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				functions = append(functions, set.Position(fn.End()).Line-set.Position(fn.Pos()).Line+1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions, files
}

func TestFunctionsAndFilesStaySmall(t *testing.T) {
	functions, files := lengths(t)
	slices.Sort(functions)
	if n := functions[len(functions)/2]; n > medianLines {
		t.Errorf("half of all functions are over %d lines; want at most %d", n-1, medianLines)
	}
	if n := functions[len(functions)*9/10]; n > ninthLines {
		t.Errorf("a tenth of all functions is over %d lines; want at most %d", n-1, ninthLines)
	}
	for path, n := range files {
		if n > fileLines {
			t.Errorf("%s has %d lines; is it one thing? want at most %d", path, n, fileLines)
		}
	}
}
