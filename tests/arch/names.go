package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// refused are names that answer no question. A name that ends in one of the suffixes is refused too.
var (
	refused         = []string{"common", "service", "services", "type", "types", "misc", "shared", "base", "lib", "tools"}
	refusedSuffixes = []string{"util", "utils", "helper", "helpers"}
)

// UniqueNames finds two packages with the same base name, which make imports and talk ambiguous. Free are programs, versions of
// the API, everything for tests, and controllers, which are named by the kind that they reconcile.
func UniqueNames(tree *Tree) []string {
	seen := map[string]string{}
	var found []string
	for _, p := range tree.Packages {
		if p.Name == "main" || below(p.Dir, []string{"api", "tests", "internal/manager/controller"}) {
			continue
		}
		base := path.Base(p.Dir)
		if first, ok := seen[base]; ok {
			found = append(found, fmt.Sprintf("%s: has the same name as %s: a package answers one question and has a name of its own", p.Dir, first))
			continue
		}
		seen[base] = p.Dir
	}
	return found
}

// RefusedNames finds packages whose name says nothing about what they answer.
func RefusedNames(tree *Tree) []string {
	var found []string
	for _, p := range tree.Packages {
		for _, name := range append(strings.Split(p.Dir, "/"), p.Name) {
			if !refusedName(name) {
				continue
			}
			found = append(found, fmt.Sprintf("%s: the name %q says nothing: name the package by the question that it answers", p.Dir, name))
			break
		}
	}
	return found
}

func refusedName(name string) bool {
	return slices.Contains(refused, name) ||
		slices.ContainsFunc(refusedSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// PackageComments finds packages that do not say what they are for.
func PackageComments(tree *Tree) []string {
	var found []string
	for _, p := range tree.Packages {
		if !slices.ContainsFunc(p.Files, hasPackageComment) {
			found = append(found, fmt.Sprintf("%s: no package comment: say in doc.go which question package %s answers and what it refuses to do",
				p.Dir, p.Name))
		}
	}
	return found
}

func hasPackageComment(file *File) bool {
	return file.Syntax.Doc != nil && strings.TrimSpace(file.Syntax.Doc.Text()) != ""
}
