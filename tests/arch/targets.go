package arch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// madeTarget matches a command that names a target of make: in a code span, or at the beginning of a line of a code block.
	madeTarget = regexp.MustCompile("(?m)(?:`|^(?:\\$ )?)make ([a-z][a-z0-9-]*)")
	// fence matches a block of code, whose lines are commands.
	fence = regexp.MustCompile("(?ms)^```.*?^```")
	// included matches the name of a file that a Makefile includes.
	included = regexp.MustCompile(`(?m)^include (\S+)$`)
	// target matches the targets of a rule of a Makefile.
	target = regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):(?:[^=]|$)`)
)

// MakeTargets finds commands in pages that name a target of make which the Makefile, with what it includes from hack, does not have.
func MakeTargets(tree *Tree) []string {
	targets, err := targetsOf(tree.Root, "Makefile")
	if err != nil {
		return []string{"Makefile: cannot be read: " + err.Error()}
	}
	var found []string
	for _, page := range pages(tree.Root) {
		text, err := os.ReadFile(filepath.Join(tree.Root, page))
		if err != nil {
			return append(found, page+": cannot be read: "+err.Error())
		}
		for _, name := range targetsIn(string(text)) {
			if !slices.Contains(targets, name) {
				found = append(found, fmt.Sprintf("%s: names make %s, which the Makefile does not have", page, name))
			}
		}
	}
	return found
}

// targetsOf lists the targets of a Makefile and of those that it includes.
func targetsOf(root, file string) ([]string, error) {
	makefile, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	var targets []string
	for _, match := range target.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, strings.Fields(match[1])...)
	}
	for _, match := range included.FindAllStringSubmatch(string(makefile), -1) {
		more, err := targetsOf(root, match[1])
		if err != nil {
			return nil, err
		}
		targets = append(targets, more...)
	}
	return targets, nil
}

// targetsIn lists the targets that a page tells its readers to make, sorted.
func targetsIn(page string) []string {
	var names []string
	for _, block := range fence.FindAllString(page, -1) {
		for _, match := range madeTarget.FindAllStringSubmatch(block, -1) {
			names = append(names, match[1])
		}
	}
	for _, match := range madeTarget.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		if strings.HasPrefix(match[0], "`") {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// pages lists the Markdown files at the root and below docs, by their paths from the root.
func pages(root string) []string {
	found, _ := filepath.Glob(filepath.Join(root, "*.md"))
	_ = filepath.WalkDir(filepath.Join(root, "docs"), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			found = append(found, name)
		}
		return nil
	})
	for i, name := range found {
		found[i], _ = filepath.Rel(root, name)
	}
	return found
}
