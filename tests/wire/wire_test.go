package wire_test

import (
	"os"
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/wire"
)

const root = "../.."

func TestWireNames(t *testing.T) {
	for _, category := range wire.Categories {
		t.Run(category.Name, func(t *testing.T) {
			facts, err := category.Facts(root)
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := category.Recorded("testdata")
			if err != nil {
				t.Fatal(err)
			}
			if len(recorded) == 0 {
				t.Fatalf("nothing is recorded of %s: run go run ./tests/wire/record", category.Name)
			}
			gone, added := wire.Compare(recorded, facts)
			for _, fact := range gone {
				t.Errorf("others may depend on what is gone or reads differently: %s. Restore it, or delete its line from "+
					"tests/wire/testdata/%s.txt and say so in CHANGELOG.md", fact, category.Name)
			}
			for _, fact := range added {
				t.Errorf("not recorded yet: %s. Run go run ./tests/wire/record", fact)
			}
		})
	}
}

// TestRecord_OnlyAdds: a rename cannot be made green by recording again.
func TestRecord_OnlyAdds(t *testing.T) {
	dir := t.TempDir()
	facts := []string{"b", "c"}
	category := wire.Category{Name: "sample", Gather: func(string) ([]string, error) { return slices.Clone(facts), nil }}
	if added, err := category.Record(root, dir); err != nil || !slices.Equal(added, facts) {
		t.Fatalf("added %v, %v", added, err)
	}
	facts = []string{"a", "c"}
	if added, err := category.Record(root, dir); err != nil || !slices.Equal(added, []string{"a"}) {
		t.Errorf("added %v, %v", added, err)
	}
	recorded, err := category.Recorded(dir)
	if err != nil || !slices.Equal(recorded, []string{"a", "b", "c"}) {
		t.Errorf("recorded %v, %v", recorded, err)
	}
	if gone, added := wire.Compare(recorded, facts); !slices.Equal(gone, []string{"b"}) || added != nil {
		t.Errorf("gone %v, added %v", gone, added)
	}
	if err := os.WriteFile(dir+"/broken.txt", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := wire.Category{Name: "broken", Gather: func(string) ([]string, error) { return []string{"one\ntwo"}, nil }}
	if _, err := broken.Facts(root); err == nil {
		t.Error("a fact of two lines would be read as two facts")
	}
}
