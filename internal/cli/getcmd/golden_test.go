package getcmd

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// moving lists the parts of an output that differ each time.
var moving = []struct {
	found *regexp.Regexp
	put   string
}{
	{regexp.MustCompile(`(created"?: "?)[0-9T:Z-]+`), "${1}WHEN"},
	{regexp.MustCompile(`(\b(?:at|since)"?: "?)[0-9T:Z-]+`), "${1}WHEN"},
	{regexp.MustCompile(` for (less than a minute|[0-9]+ (min|h|days))`), " for AGE"},
	{regexp.MustCompile(`(?m) [0-9]+(s|m|m[0-9]+s)$`), " AGE"},
	{regexp.MustCompile(`(?m)^[0-9]+y[0-9]*d? +`), "AGE "},
}

func TestGolden(t *testing.T) {
	config := startHub(t)
	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"list":          {0, []string{"list"}},
		"list-wide":     {0, []string{"list", "-o", "wide"}},
		"list-json":     {0, []string{"list", "-o", "json"}},
		"list-yaml":     {0, []string{"list", "--type", "community", "-o", "yaml"}},
		"list-name":     {0, []string{"list", "--outdated", "-o", "name"}},
		"list-of-kyma":  {0, []string{"list", "--kyma", "alice"}},
		"status":        {1, []string{"status"}},
		"status-wide":   {1, []string{"status", "-o", "wide"}},
		"status-named":  {0, []string{"status", "lone"}},
		"status-kyma":   {2, []string{"status", "--kyma", "kcp-system/alice"}},
		"status-json":   {2, []string{"status", "greeter", "-o", "json"}},
		"tree":          {0, []string{"tree"}},
		"tree-all":      {0, []string{"tree", "beacon", "--all"}},
		"tree-json":     {0, []string{"tree", "lone", "-o", "json"}},
		"trace":         {0, []string{"trace", "deployment/lone-manager", "-n", "kyma-system"}},
		"trace-two":     {0, []string{"trace", "service/beacon"}},
		"trace-json":    {0, []string{"trace", "deployments.apps/lone-manager", "-o", "json"}},
		"events":        {0, []string{"events"}},
		"events-module": {0, []string{"events", "beacon", "--warnings", "-o", "yaml"}},
		"events-kyma":   {0, []string{"events", "greeter", "-o", "yaml"}},
		"history":       {0, []string{"history", "beacon"}},
		"history-wide":  {0, []string{"history", "beacon", "--kyma", "kcp-system/alice", "-o", "wide"}},
		"history-yaml":  {0, []string{"history", "beacon", "--kyma", "alice", "-o", "yaml"}},
		"history-json":  {0, []string{"history", "greeter", "-o", "json"}},
		"catalog":       {0, []string{"catalog", "list"}},
		"catalog-wide":  {0, []string{"catalog", "list", "-o", "wide"}},
		"catalog-json":  {0, []string{"catalog", "search", "lone", "-o", "json"}},
		"catalog-name":  {0, []string{"catalog", "list", "-n", "kcp-system", "-o", "name"}},
		"catalog-show":  {0, []string{"catalog", "show", "beacon"}},
		"kymas":         {0, []string{"kyma", "list"}},
		"kymas-wide":    {0, []string{"kyma", "list", "-o", "wide"}},
		"kymas-json":    {0, []string{"kyma", "list", "-o", "json"}},
		"kymas-name":    {0, []string{"kyma", "list", "-o", "name"}},
		"kyma":          {0, []string{"kyma", "get", "alice"}},
		"kyma-yaml":     {0, []string{"kyma", "get", "kcp-system/here", "-o", "yaml"}},
		"kyma-name":     {0, []string{"kyma", "get", "here", "-o", "name"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said, _ := kyma(t, config, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d; said %q", code, c.code, said)
			}
			if strings.Contains(out, "\x1b") {
				t.Error("the output has a sequence that a terminal obeys")
			}
			golden(t, name, out)
		})
	}
}

func golden(t *testing.T, name, is string) {
	t.Helper()
	for _, m := range moving {
		is = m.found.ReplaceAllString(is, m.put)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(is), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), is); diff != "" {
		t.Errorf("%s differs (-want +got; -update writes it anew):\n%s", path, diff)
	}
}
