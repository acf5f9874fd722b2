package startup

import (
	"go/parser"
	"go/token"
	"math"
	"runtime/debug"
	"testing"
)

// TestItIsPreparedBeforeTheLibraries holds that the package imports nothing that Go would have to prepare before it.
func TestItIsPreparedBeforeTheLibraries(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "startup.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range parsed.Imports {
		if imported.Path.Value != `"runtime/debug"` {
			t.Errorf("it imports %s: Go would prepare that before, with collections meanwhile", imported.Path.Value)
		}
	}
}

// TestDone holds that the collector works after the start as GOGC says.
func TestDone(t *testing.T) {
	if configured < 0 || configured == math.MaxInt32 {
		t.Skipf("GOGC switches the collector off here: %d", configured)
	}
	Done()
	if got := debug.SetGCPercent(configured); got != configured {
		t.Errorf("after the start the collector works at %d, not %d", got, configured)
	}
}
