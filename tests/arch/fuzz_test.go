package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fewestFuzzTargets is how many there must be at least.
const fewestFuzzTargets = 12

func TestFuzz_EveryFuzzTargetHasSomethingToBeginWith(t *testing.T) {
	const root = "../.."
	targets := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != root {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, declared := range parsed.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			targets++
			if _, missing := os.Stat(filepath.Join(filepath.Dir(file), "testdata", "fuzz", f.Name.Name)); missing != nil && !seeds(f) {
				t.Errorf("%s: %s has no f.Add and no corpus in testdata/fuzz", file, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if targets < fewestFuzzTargets {
		t.Errorf("there are %d fuzz targets, fewer than %d", targets, fewestFuzzTargets)
	}
}

// seeds reports whether a fuzz target adds to its corpus, or has a user do so.
func seeds(f *ast.FuncDecl) (found bool) {
	if len(f.Type.Params.List) != 1 || len(f.Type.Params.List[0].Names) != 1 {
		return false
	}
	fuzzer := f.Type.Params.List[0].Names[0].Name
	ast.Inspect(f.Body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Add" {
			if on, ok := method.X.(*ast.Ident); ok && on.Name == fuzzer {
				found = true
			}
		}
		return true
	})
	return found
}
