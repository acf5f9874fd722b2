package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Category is one kind of facts; its file in testdata is its name with .txt.
type Category struct {
	Name string
	// Gather reads the facts from a checkout.
	Gather func(root string) ([]string, error)
}

// Categories are all that is recorded.
var Categories = []Category{
	{"definitions", gatherDefinitions},
	{"manager-flags", gatherManagerFlags},
	{"kyma-commands", gatherCommands},
	{"exit-codes", gatherExitCodes},
	{"api-routes", gatherRoutes},
	{"api-schemas", gatherSchemas},
	{"json-shapes", gatherShapes},
	{"metrics", gatherMetrics},
	{"names", gatherNames},
	{"words", gatherWords},
}

// Facts returns the facts of a category, sorted, each once.
func (c Category) Facts(root string) ([]string, error) {
	facts, err := c.Gather(root)
	if err != nil {
		return nil, fmt.Errorf("gather %s: %w", c.Name, err)
	}
	for _, fact := range facts {
		if strings.ContainsAny(fact, "\n\r") {
			return nil, fmt.Errorf("gather %s: fact %q has more than one line", c.Name, fact)
		}
	}
	slices.Sort(facts)
	return slices.Compact(facts), nil
}

func (c Category) file(dir string) string { return filepath.Join(dir, c.Name+".txt") }

// Recorded returns the lines that are recorded of a category in a directory; none where there is no file yet.
func (c Category) Recorded(dir string) ([]string, error) {
	text, err := os.ReadFile(c.file(dir))
	if os.IsNotExist(err) {
		return nil, nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), err
}

// Compare returns the facts that are recorded and gone, and those that are there and not recorded.
func Compare(recorded, facts []string) (gone, added []string) {
	return without(recorded, facts), without(facts, recorded)
}

func without(all, others []string) (left []string) {
	known := make(map[string]bool, len(others))
	for _, one := range others {
		known[one] = true
	}
	for _, one := range all {
		if !known[one] {
			left = append(left, one)
		}
	}
	return left
}

// Record adds the facts that are not recorded yet, and returns them. It never takes a line away.
func (c Category) Record(root, dir string) ([]string, error) {
	facts, err := c.Facts(root)
	if err != nil {
		return nil, err
	}
	recorded, err := c.Recorded(dir)
	if err != nil {
		return nil, err
	}
	_, added := Compare(recorded, facts)
	if len(added) == 0 {
		return nil, nil
	}
	all := append(slices.Clone(recorded), added...)
	slices.Sort(all)
	return added, os.WriteFile(c.file(dir), []byte(strings.Join(all, "\n")+"\n"), 0o644)
}
