package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// compatibilityPage says, line by line of upstream's tests, which test of ours shows the same.
	compatibilityPage = "docs/compatibility.md"
	// pendingProof ends the last cell of a row whose feature is being built.
	pendingProof = "(pending)"
)

// checklists are the sections of the page that must have one row for each line of upstream's tests, by how many lines there are.
var checklists = map[string]int{"## Integration tests of upstream": 30, "## End-to-end tests of upstream": 35}

// Compatibility finds what docs/compatibility.md names and what does not exist (any more), rows without a test, rows that are pending, and
// lines of upstream's tests without a row. Tables whose last column is not called "test" are not looked at.
func Compatibility(tree *Tree) []string {
	data, err := os.ReadFile(filepath.Join(tree.Root, filepath.FromSlash(compatibilityPage)))
	if err != nil {
		return []string{compatibilityPage + ": cannot be read: " + err.Error()}
	}
	files, rows := testFiles(tree), map[string]map[int]int{}
	var found []string
	section, judged := "", false
	for i, line := range strings.Split(string(data), "\n") {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		last := strings.TrimSpace(cells[len(cells)-1])
		switch {
		case strings.HasPrefix(line, "#"):
			section, judged = strings.TrimSpace(line), false
			rows[section] = map[int]int{}
		case !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---"):
			judged = judged && strings.HasPrefix(line, "|")
		case last == "test":
			judged = true
		case judged:
			if number, err := strconv.Atoi(strings.TrimSpace(cells[0])); err == nil {
				rows[section][number]++
			}
			for _, message := range judgeProof(files, last) {
				found = append(found, fmt.Sprintf("%s:%d: %s", compatibilityPage, i+1, message))
			}
		}
	}
	return append(found, missingRows(rows)...)
}

// judgeProof is judgeRow for a page whose features may be pending: what does not exist yet cannot be named yet.
func judgeProof(files map[string]*testFile, cell string) []string {
	if strings.HasSuffix(cell, pendingProof) {
		return []string{"the row is pending: name the test that shows it by now"}
	}
	return judgeRow(files, cell)
}

// missingRows returns the lines of upstream's tests that have no row of their own.
func missingRows(rows map[string]map[int]int) []string {
	var found []string
	for section, lines := range checklists {
		for number := 1; number <= lines; number++ {
			if count := rows[section][number]; count != 1 {
				found = append(found, fmt.Sprintf("%s: %q has %d rows for line %d, want one", compatibilityPage, section, count, number))
			}
		}
	}
	return found
}
