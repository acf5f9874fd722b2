package arch

import (
	"maps"
	"testing"
)

const sampleGlossary = "# Glossary\n\n## Retired words\n\n| old | new |\n| --- | --- |\n" +
	"| `trunk` | connection |\n| `Throne` | LeaderRecord |\n"

func TestRetiredWords(t *testing.T) {
	clean := map[string]string{glossaryPage: sampleGlossary, "internal/a/conn.go": "package a\n\ntype conn struct{}\n\nfunc (c conn) trunks() {}\n"}
	for name, tc := range map[string]struct {
		file, text, list, want string
	}{
		"words that are part of a name are free": {"internal/a/trunkline.go", "package a\n\nfunc openTrunk() {}\n", "", ""},
		"a directory":                            {"internal/trunk/a.go", "package trunk\n", "", "internal/trunk: directory internal/trunk trunk is a retired word: connection"},
		"a file":                                 {"internal/a/trunk_linux_test.go", "package a\n", "", "internal/a/trunk_linux_test.go: file internal/a/trunk_linux_test.go trunk is"},
		"a file of the dashboard":                {"web/src/throne.test.ts", "", "", "web/src/throne.test.ts: file web/src/throne.test.ts throne is"},
		"a type":                                 {"internal/a/a.go", "package a\n\ntype trunk struct{}\n", "", "internal/a: type internal/a trunk is a retired word"},
		"a function":                             {"internal/a/a.go", "package a\n\nfunc Trunk() {}\n", "", "internal/a: function internal/a Trunk is a retired word"},
		"a method":                               {"internal/a/a.go", "package a\n\ntype a struct{}\n\nfunc (a) throne() {}\n", "", "internal/a: function internal/a throne is a retired word: LeaderRecord"},
		"what the list has is left for now":      {"internal/a/a.go", "package a\n\ntype trunk struct{}\n", "type internal/a trunk\n", ""},
		"what is mended leaves the list":         {"internal/a/a.go", "package a\n", "type internal/a trunk\n", `tests/arch/testdata/retired.txt: "type internal/a trunk" is mended: delete the line`},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{tc.file: tc.text, retiredList: "# left\n" + tc.list}
			maps.Copy(files, clean)
			expect(t, RetiredWords(fixture(t, files)), wanted(tc.want)...)
		})
	}
}

func TestLockedSuffix(t *testing.T) {
	for name, tc := range map[string]struct{ text, list, want string }{
		"a name that says it":           {"// countLocked counts. The caller holds the lock.\nfunc countLocked() {}\n", "", ""},
		"one that does not":             {"// count counts. The caller holds the lock of a.\nfunc count() {}\n", "", "internal/a: count is called with a lock held"},
		"another way to say it":         {"// count counts. Call it with the lock.\nfunc count() {}\n", "", "internal/a: count is called with a lock held"},
		"what the list has":             {"// count counts. The caller holds the lock.\nfunc count() {}\n", "internal/a count\n", ""},
		"what is mended":                {"func count() {}\n", "internal/a count\n", `tests/arch/testdata/unlocked.txt: "internal/a count" is mended`},
		"what takes the lock itself is": {"// count takes the lock and counts.\nfunc count() {}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fixture(t, map[string]string{"internal/a/a.go": "package a\n\n" + tc.text, lockedList: tc.list})
			expect(t, LockedSuffix(tree), wanted(tc.want)...)
		})
	}
}

func TestNonGoals(t *testing.T) {
	for name, tc := range map[string]struct{ file, text, list, want string }{
		"a package that says it":    {"pkg/a/doc.go", "// Package a adds. It does not subtract.\npackage a\n", "", ""},
		"one that does not":         {"pkg/a/doc.go", "// Package a adds.\npackage a\n", "", "pkg/a: package does not say what it leaves to others"},
		"one without a comment":     {"internal/a/a.go", "package a\n", "", "internal/a: package does not say"},
		"tests and commands may":    {"cmd/a/main.go", "// Command a adds.\npackage main\n", "", ""},
		"what the list has is left": {"pkg/a/doc.go", "// Package a adds.\npackage a\n", "pkg/a package\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, NonGoals(fixture(t, map[string]string{tc.file: tc.text, purposeList: tc.list})), wanted(tc.want)...)
		})
	}
}

func TestPlainWords(t *testing.T) {
	for name, tc := range map[string]struct{ file, text, want string }{
		"a comment":                  {"pkg/a/a.go", "package a\n\n// x is what nobody reads.\nvar x = 1\n", `pkg/a/a.go:3: "nobody" names no subject`},
		"a message":                  {"pkg/a/a.go", "package a\n\nvar x = \"Somebody changed it\"\n", `pkg/a/a.go:3: "Somebody" names no subject`},
		"a value of one word may":    {"pkg/a/a.go", "package a\n\nvar x = \"nobody\"\n", ""},
		"a test's values may":        {"pkg/a/a_test.go", "package a\n\nvar x = \"add nobody\"\n", ""},
		"a test's comments may not":  {"pkg/a/a_test.go", "package a\n\n// x is for whoever reads.\nvar x = 1\n", `pkg/a/a_test.go:3: "whoever"`},
		"names are left to glossary": {"pkg/a/a.go", "package a\n\nvar nobody = 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, PlainWords(fixture(t, map[string]string{tc.file: tc.text})), wanted(tc.want)...)
		})
	}
}
