package arch

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompatibility_WhatCompatibilityNamesIsThere(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range Compatibility(tree) {
		t.Error(place)
	}
}

func TestCompatibility(t *testing.T) {
	var lines []string
	for section, count := range checklists {
		lines = append(lines, section, "", "| line | what | here | test |", "| --- | --- | --- | --- |")
		for number := 1; number <= count; number++ {
			if number != 7 {
				lines = append(lines, fmt.Sprintf("| %d | `code` | the same | `pkg/a/a_test.go: TestA` |", number))
			}
		}
		lines = append(lines, "")
	}
	page := strings.Join(append(lines,
		"## Others", "", "| flag | here |", "| --- | --- |", "| `--some` | not looked at |", "",
		"| what | test |", "| --- | --- |", "| one | `pkg/a/a_test.go: TestGone` |", "| two | `pkg/a/b_test.go` (pending) |", "| three | no |",
		"| four | No test: it does not apply. |"), "\n")
	files := map[string]string{compatibilityPage: page, "pkg/a/a_test.go": "package a\n\nfunc TestA() {}\n"}
	found := Compatibility(fixture(t, files))
	for _, want := range []string{
		`has no test, case or spec "TestGone"`, "the row is pending", "the row names no test",
		`"## Integration tests of upstream" has 0 rows for line 7`, `"## End-to-end tests of upstream" has 0 rows for line 7`,
	} {
		if !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("no one says %q:\n%s", want, strings.Join(found, "\n"))
		}
	}
	if len(found) != 5 {
		t.Errorf("found %d, want 5:\n%s", len(found), strings.Join(found, "\n"))
	}
	expect(t, Compatibility(fixture(t, map[string]string{"a.go": "package a\n"})), compatibilityPage+": cannot be read")
}
