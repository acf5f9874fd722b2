package modulestatus

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLawsOfInstalling checks invariants for every combination of inputs, beyond the examples of a table.
func TestLawsOfInstalling(t *testing.T) {
	for _, of := range []Type{Managed, Manageable, Community} {
		for bits := range 16 {
			w := InstallInput{
				Module: "beacon", Type: of, Kyma: bits&1 != 0, Direct: bits&2 != 0, WantsCommunity: bits&4 != 0, WantsUnmanaged: bits&8 != 0,
			}
			way, why := WayToInstall(w)
			at := fmt.Sprintf("%+v goes %s (%s)", w, way, why)
			switch {
			case of == Managed && (way == Directly || way == DirectlyConfirmed):
				t.Errorf("what a Kyma has is installed directly: %s", at)
			case of == Community && way == ViaKyma:
				t.Errorf("a community module goes into a Kyma: %s", at)
			case !w.Kyma && way == ViaKyma:
				t.Errorf("it goes into a Kyma that there is not: %s", at)
			case of == Manageable && way == Directly && !w.Direct:
				t.Errorf("full support is given up without a question: %s", at)
			case w.Direct && way == ViaKyma:
				t.Errorf("two look after the same objects: %s", at)
			case way == NoWay && why == "", way == DirectlyConfirmed && why == "":
				t.Errorf("no one is told why: %s", at)
			}
		}
	}
}

// TestLawsOfDeleting checks invariants for every combination of inputs.
func TestLawsOfDeleting(t *testing.T) {
	for bits := range 64 {
		l := DeleteInput{Module: "beacon", Managed: bits&1 != 0, Direct: bits&2 != 0, Cascade: bits&4 != 0}
		if bits&8 != 0 {
			l.Resources = []Ref{{Kind: "Beacon", Name: "mine"}}
		}
		if bits&16 != 0 {
			l.Unread = []Unread{{GroupKind: beacons, Forbidden: true}}
		}
		if bits&32 != 0 {
			l.Dependents = []string{"lighthouse"}
		}
		next, why := NextToDelete(l)
		at := fmt.Sprintf("%+v: %s (%s)", l, next, why)
		there, open := l.Managed || l.Direct, len(l.Resources) > 0 || len(l.Unread) > 0
		switch {
		case open && (next == RemoveEntry || next == DeleteObjects):
			t.Errorf("the operator goes before what it has to clean up: %s", at)
		case len(l.Dependents) > 0 && !l.Cascade && there && next != Blocked:
			t.Errorf("a module goes before those that need it: %s", at)
		case next == DeleteResources && !l.Cascade:
			t.Errorf("what no one has seen is deleted: %s", at)
		case next == DeleteObjects && l.Managed:
			t.Errorf("objects go behind the lifecycle manager's back: %s", at)
		case (next == Gone) == there:
			t.Errorf("it is gone, and it is not: %s", at)
		case next == Blocked && why == "":
			t.Errorf("no one is told why: %s", at)
		}
	}
}

// TestFlowlaws_TheFlowchartsHaveTheirTests checks that every test and case in docs/module-flows.md exists: `TestName`: "case".
func TestFlowlaws_TheFlowchartsHaveTheirTests(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "module-flows.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, dir := range []string{"internal/client/modulestatus", "internal/client/directinstall", "internal/cli/editcmd", "tests/integration", "internal/module"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	text := strings.Join(strings.Fields(tests.String()), " ")
	named := 0
	for _, m := range regexp.MustCompile("`(Test[A-Za-z]+)`(?:: \"([^\"]+)\")?").FindAllStringSubmatch(string(page), -1) {
		named++
		if !strings.Contains(text, "func "+m[1]+"(") {
			t.Errorf("there is no test %s", m[1])
		}
		if m[2] != "" && !strings.Contains(text, `"`+m[2]+`"`) {
			t.Errorf("%s has no case %q", m[1], m[2])
		}
	}
	if named < 20 {
		t.Errorf("the page names %d tests: has its form changed?", named)
	}
}
