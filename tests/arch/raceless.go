package arch

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// shared are the imports of what works at the same time.
var shared = []string{"sync", "sync/atomic", "golang.org/x/sync/errgroup", "golang.org/x/sync/singleflight", "net/http/httptest"}

// Raceless finds goroutines, channels and locks in packages, or in their tests, whose tests the Makefile runs without the race detector,
// and in single test files that are left out of builds for it. The packages of those must be in RACE_APART, or no stage runs them.
func Raceless(tree *Tree) []string {
	makefile := filepath.Join(tree.Root, "Makefile")
	dirs, err := makeVariable(makefile, "RACELESS")
	if err != nil {
		return []string{err.Error()}
	}
	apart, err := makeVariable(makefile, "RACE_APART")
	if err != nil {
		return []string{err.Error()}
	}
	found := leftOut(tree, slices.Concat(dirs, apart))
	seen := map[string]bool{}
	for _, p := range tree.Packages {
		if !slices.Contains(dirs, p.Dir) {
			continue
		}
		seen[p.Dir] = true
		for _, file := range p.Files {
			for _, i := range tree.Imports(file) {
				if slices.Contains(shared, i.Path) {
					found = append(found, fmt.Sprintf("%s: imports %s, but RACELESS in the Makefile names %s", i.At, i.Path, p.Dir))
				}
			}
			for node, what := range concurrent(file.Syntax) {
				found = append(found, fmt.Sprintf("%s: %s, but RACELESS in the Makefile names %s", tree.at(node), what, p.Dir))
			}
		}
	}
	for _, dir := range dirs {
		if !seen[dir] {
			found = append(found, fmt.Sprintf("RACELESS in the Makefile names %s, which does not exist", dir))
		}
	}
	return found
}

// leftOut finds what is wrong with the test files that are left out of builds for the race detector.
func leftOut(tree *Tree, plain []string) (found []string) {
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			if builtWith(file.Syntax, true) {
				continue
			}
			if !slices.Contains(plain, p.Dir) {
				found = append(found, fmt.Sprintf("%s: is left out of builds for the race detector, and RACE_APART in the Makefile does not name %s",
					tree.at(file.Syntax), p.Dir))
			}
			for node, what := range concurrent(file.Syntax) {
				found = append(found, fmt.Sprintf("%s: %s, and is left out of builds for the race detector", tree.at(node), what))
			}
		}
	}
	return found
}

// makeVariable returns the folders that a variable of the Makefile names.
func makeVariable(makefile, name string) ([]string, error) {
	data, err := os.ReadFile(makefile)
	if err != nil {
		return nil, err
	}
	match := regexp.MustCompile(`(?m)^` + name + ` := ((?:.*\\\n)*.*)$`).FindSubmatch(data)
	if match == nil {
		return nil, fmt.Errorf("%s has no variable %s", makefile, name)
	}
	var dirs []string
	for word := range strings.FieldsSeq(strings.ReplaceAll(string(match[1]), "\\\n", " ")) {
		dirs = append(dirs, strings.TrimPrefix(word, "./"))
	}
	return dirs, nil
}

// concurrent returns where a file starts goroutines, has channels, or lets tests run at the same time.
func concurrent(file *ast.File) map[ast.Node]string {
	found := map[ast.Node]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			found[n] = "starts a goroutine"
		case *ast.ChanType:
			found[n] = "has a channel"
		case *ast.SelectorExpr:
			if n.Sel.Name == "Parallel" {
				found[n] = "runs tests at the same time"
			}
		}
		return true
	})
	return found
}
