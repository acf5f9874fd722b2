package arch

import (
	"fmt"
	"go/ast"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 60
)

// messages has the words of the dashboard and no code: they stand in one place, so that all of them can be compared.
const messages = "web/src/messages.ts"

// FileLength finds hand-written files that are too long to be read in one go. Tests count too.
func FileLength(tree *Tree) []string {
	var found []string
	for _, source := range tree.Sources {
		if !source.Generated && source.Path != messages && source.Lines > maxFileLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d: split it by what its parts answer",
				source.Path, source.Lines, maxFileLines))
		}
	}
	return found
}

// FunctionLength finds functions that are too long, from their first to their last line. Test functions are free: they hold tables.
func FunctionLength(tree *Tree) []string {
	var found []string
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			if file.Test || file.Generated {
				continue
			}
			for _, declaration := range file.Syntax.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if !ok {
					continue
				}
				lines := tree.fset.Position(function.End()).Line - tree.fset.Position(function.Pos()).Line + 1
				if lines > maxFunctionLines {
					found = append(found, fmt.Sprintf("%s: function %s has %d lines, at most %d: give its steps names",
						tree.at(function), function.Name.Name, lines, maxFunctionLines))
				}
			}
		}
	}
	return found
}
