package arch

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// glossaryPage has the terms of the project, and the words that were given up for them.
	glossaryPage = "docs/glossary.md"
	// retiredSection is the heading above the table of those words.
	retiredSection = "## Retired words"
	// retiredList has the names that still have a retired word. It may only get shorter.
	retiredList = "tests/arch/testdata/retired.txt"
)

// retiredRow is a row of the table: the old word, and the new one.
var retiredRow = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| ([^|]+) \\|")

// use is a name in the tree with a retired word: "type internal/manager/clustercache trunk".
type use struct{ category, where, name string }

func (u use) String() string { return u.category + " " + u.where + " " + u.name }

// retiredWords reads the table: lower-case old words and what is said instead.
func retiredWords(tree *Tree) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(tree.Root, filepath.FromSlash(glossaryPage)))
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(text), retiredSection)
	if !found {
		return nil, fmt.Errorf("%s has no section %q", glossaryPage, retiredSection)
	}
	words := map[string]string{}
	for _, row := range retiredRow.FindAllStringSubmatch(table, -1) {
		words[strings.ToLower(row[1])] = strings.TrimSpace(row[2])
	}
	return words, nil
}

// RetiredWords finds directories, files, types and functions whose whole name is a word that the glossary retires, but those of the list
// that were there when the word was; and lines of the list whose name is gone, so that it gets shorter with every renaming.
func RetiredWords(tree *Tree) []string {
	words, err := retiredWords(tree)
	if err != nil {
		return []string{err.Error()}
	}
	left, err := listed(tree, retiredList)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for _, u := range namesOf(tree) {
		instead, retired := words[strings.ToLower(u.name)]
		switch {
		case !retired:
		case left[u.String()]:
			delete(left, u.String())
		default:
			found = append(found, fmt.Sprintf("%s: %s is a retired word: %s (see %s)", u.where, u, instead, glossaryPage))
		}
	}
	return append(found, gone(left, retiredList)...)
}

// namesOf lists the directories, files, types and functions of the tree, each once.
func namesOf(tree *Tree) []use {
	seen := map[use]bool{}
	for _, source := range tree.Sources {
		dir, base := path.Split(source.Path)
		seen[use{"file", source.Path, bareName(base)}] = true
		for at := path.Clean(dir); at != "."; at = path.Dir(at) {
			seen[use{"directory", at, path.Base(at)}] = true
		}
	}
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			for _, declaration := range file.Syntax.Decls {
				for _, u := range declaredNames(p.Dir, declaration) {
					seen[u] = true
				}
			}
		}
	}
	all := make([]use, 0, len(seen))
	for u := range seen {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b use) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// bareName returns the name of a file without what says its kind: leash_linux_test.go is leash.
func bareName(base string) string {
	name := strings.TrimSuffix(base, path.Ext(base))
	for _, suffix := range []string{"_test", ".test", "_linux", "_unix", "_other"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// declaredNames returns the types, functions and methods that a declaration makes.
func declaredNames(dir string, declaration ast.Decl) (all []use) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		all = append(all, use{"function", dir, d.Name.Name})
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if made, ok := spec.(*ast.TypeSpec); ok {
				all = append(all, use{"type", dir, made.Name.Name})
			}
		}
	}
	return all
}

// listed reads a list of exceptions, one a line; # begins a comment. A list that is not there is empty.
func listed(tree *Tree, name string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(tree.Root, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines[line] = true
		}
	}
	return lines, nil
}

// gone tells the lines of a list that no rule needs any more.
func gone(left map[string]bool, list string) []string {
	var found []string
	for line := range left {
		found = append(found, fmt.Sprintf("%s: %q is mended: delete the line", list, line))
	}
	slices.Sort(found)
	return found
}
