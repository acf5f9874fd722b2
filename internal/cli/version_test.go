package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVersion_OfARelease(t *testing.T) {
	Version, Commit = "1.2.3", "0123456789abcdef"
	t.Cleanup(func() { Version, Commit = "", "" })
	if _, out, _ := run(t, "--version"); out != "kyma 1.2.3 (commit 0123456789abcdef)\n" {
		t.Errorf("--version wrote %q", out)
	}
	_, out, _ := run(t, "version")
	for _, want := range []string{"VERSION", "COMMIT", "1.2.3", "0123456789abcdef"} {
		if !strings.Contains(out, want) {
			t.Errorf("kyma version wrote %q, without %s", out, want)
		}
	}
	_, out, _ = run(t, "version", "-o", "json")
	var d versionDocument
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Version != "1.2.3" || d.Commit != "0123456789abcdef" {
		t.Errorf("kyma version -o json gave %+v, %v", d, err)
	}
}
