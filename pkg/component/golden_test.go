package component_test

import (
	"os"
	"path/filepath"
	"testing"
)

// change replaces every node below this one by everything that a careless or hostile author could put there, one at a
// time, calls see, and puts the node back.
func change(node any, others []any, see func()) {
	visit := func(child any, set func(any)) {
		for _, other := range others {
			set(other)
			see()
		}
		set(child)
		change(child, others, see)
	}
	switch parent := node.(type) {
	case map[string]any:
		for key, child := range parent {
			delete(parent, key)
			see()
			visit(child, func(other any) { parent[key] = other })
		}
	case []any:
		for i, child := range parent {
			visit(child, func(other any) { parent[i] = other })
		}
	}
}

func goldens(t testing.TB) (all [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("descriptor", "testdata", "*.*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("golden descriptors %v, error %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}
