package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

const (
	lockedList  = "tests/arch/testdata/unlocked.txt"
	purposeList = "tests/arch/testdata/purpose.txt"
)

// needsLock is how a comment says that a method is called with a lock held.
var needsLock = regexp.MustCompile(`(?i)\b(the caller holds|holds the lock|call(ed)?( it)? with (the |its )?(lock|mutex))\b`)

// LockedSuffix finds functions whose comment says that the caller holds a lock, and whose name does not end in Locked.
func LockedSuffix(tree *Tree) []string {
	return except(tree, lockedList, func(p *Package, file *File) (found []string) {
		for _, declaration := range file.Syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && needsLock.MatchString(function.Doc.Text()) && !strings.HasSuffix(function.Name.Name, "Locked") {
				found = append(found, fmt.Sprintf("%s %s", p.Dir, function.Name.Name))
			}
		}
		return found
	}, "is called with a lock held: let its name end in Locked")
}

// bounds are how a package comment says what the package does not do.
var bounds = regexp.MustCompile(`(?i)\b(non-goals?:|refuses|does not|decides nothing|judges nothing|leaves? .{0,80}\bto\b|no part of)`)

// NonGoals finds packages whose comment does not say what they leave to others.
func NonGoals(tree *Tree) []string {
	said := map[string]bool{}
	for _, p := range tree.Packages {
		said[p.Dir] = slices.ContainsFunc(p.Files, func(file *File) bool { return bounds.MatchString(file.Syntax.Doc.Text()) })
	}
	return except(tree, purposeList, func(p *Package, _ *File) []string {
		if said[p.Dir] || !below(p.Dir, []string{"pkg", "internal"}) {
			return nil
		}
		return []string{p.Dir + " package"}
	}, "does not say what it leaves to others: add its non-goals to the package comment")
}

// vague are pronouns that hide the subject of a sentence: a user, a client, a replica, a caller.
var vague = regexp.MustCompile(`(?i)\b(somebody|someone|nobody|whoever|anybody|everybody)\b`)

// PlainWords finds vague pronouns in comments and in the messages of production code.
func PlainWords(tree *Tree) (found []string) {
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			for _, text := range spoken(file) {
				if word := vague.FindString(text.Value); word != "" {
					at := tree.fset.Position(text.ValuePos)
					found = append(found, fmt.Sprintf("%s:%d: %q names no subject: name the user, client or component", file.Path, at.Line, word))
				}
			}
		}
	}
	return found
}

// spoken returns the comments of a file and, unless it is a test, its strings of several words.
func spoken(file *File) (texts []*ast.BasicLit) {
	if file.Generated {
		return nil
	}
	for _, group := range file.Syntax.Comments {
		for _, comment := range group.List {
			texts = append(texts, &ast.BasicLit{ValuePos: comment.Slash, Value: comment.Text})
		}
	}
	ast.Inspect(file.Syntax, func(node ast.Node) bool {
		if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING && !file.Test && strings.Contains(text.Value, " ") {
			texts = append(texts, text)
		}
		return true
	})
	return texts
}

// except applies a rule to every file, and leaves out what a list has, which may only get shorter.
func except(tree *Tree, list string, rule func(*Package, *File) []string, wrong string) []string {
	left, err := listed(tree, list)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	seen := map[string]bool{}
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			for _, name := range rule(p, file) {
				if seen[name] {
					continue
				}
				seen[name] = true
				if left[name] {
					delete(left, name)
					continue
				}
				where, what, _ := strings.Cut(name, " ")
				found = append(found, fmt.Sprintf("%s: %s %s", where, what, wrong))
			}
		}
	}
	return append(found, gone(left, list)...)
}
