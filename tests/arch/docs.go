package arch

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// architecture is the page that says where things are.
const architecture = "docs/architecture.md"

var (
	// treePath matches a path from the root: one of the top folders and what follows. A "*" and "{a,b}" are understood.
	treePath = regexp.MustCompile(`(?:^|[^A-Za-z0-9_./-])((?:\.ci|api|charts|cmd|config|docs|hack|internal|pkg|tests)/[A-Za-z0-9_./*{},-]*)`)
	// link matches the target of a relative Markdown link.
	link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// alternatives matches the innermost {a,b}.
	alternatives = regexp.MustCompile(`\{([^{}]*)\}`)
)

// ArchitecturePaths finds paths that docs/architecture.md names and that do not exist.
func ArchitecturePaths(tree *Tree) []string {
	data, err := os.ReadFile(filepath.Join(tree.Root, filepath.FromSlash(architecture)))
	if err != nil {
		return []string{architecture + ": cannot be read: " + err.Error()}
	}
	var found []string
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		for _, name := range pathsIn(line) {
			if !exists(tree.Root, name) {
				found = append(found, fmt.Sprintf("%s:%d: names %s, which does not exist: say where it is now", architecture, number, name))
			}
		}
	}
	return found
}

// pathsIn lists the paths from the root that a line of the page names.
func pathsIn(line string) []string {
	var paths []string
	for _, match := range treePath.FindAllStringSubmatch(link.ReplaceAllString(line, "]"), -1) {
		paths = append(paths, spread(strings.TrimRight(match[1], ".,-"))...)
	}
	for _, match := range link.FindAllStringSubmatch(line, -1) {
		paths = append(paths, path.Join(path.Dir(architecture), strings.TrimSpace(match[1])))
	}
	return paths
}

// spread writes out {a,b}.
func spread(name string) []string {
	match := alternatives.FindStringSubmatchIndex(name)
	if match == nil {
		return []string{strings.Trim(name, "{}")}
	}
	var names []string
	for part := range strings.SplitSeq(name[match[2]:match[3]], ",") {
		names = append(names, spread(name[:match[0]]+strings.TrimSpace(part)+name[match[1]:])...)
	}
	return names
}

func exists(root, name string) bool {
	matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && len(matches) > 0
}
