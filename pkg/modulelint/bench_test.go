package modulelint

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkLint judges a manifest of 5 MB, the size of the largest modules.
func BenchmarkLint(b *testing.B) {
	module := sample(b).module(b)
	var text strings.Builder
	text.Write(module.Manifest)
	for i := 0; text.Len() < 5<<20; i++ {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: filling-%d}\ndata:\n  text: |\n    %s\n", i, strings.Repeat("x", 4000))
	}
	module.Manifest = []byte(text.String())
	b.SetBytes(int64(len(module.Manifest)))
	for b.Loop() {
		if findings := Lint(module, Options{}); len(findings) > 0 {
			b.Fatal(findings)
		}
	}
}
