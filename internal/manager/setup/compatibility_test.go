package setup

import (
	"bytes"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/internal/takeover"
)

var (
	flagOfHelp = regexp.MustCompile(`(?m)^  -([a-z0-9-]+)`)
	flagOfPage = regexp.MustCompile("`--([a-z0-9-]+)`")
)

// The page that describes the effect of upstream's flags, and the new ones, lists all flags and no others.
func TestCompatibility_EveryFlagIsOnThePage(t *testing.T) {
	var help bytes.Buffer
	if _, err := ParseFlags([]string{"--help"}, &help); !IsHelp(err) {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Flags\n")
	if !found {
		t.Fatal("docs/compatibility.md has no section Flags")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string]bool{} // by flag: whether the page lists it as without effect
	for line := range strings.Lines(section) {
		for _, match := range flagOfPage.FindAllStringSubmatch(line, -1) {
			told[match[1]] = strings.Contains(line, "| without effect |")
		}
	}
	var known []string
	ignored := strings.Fields(strings.Join(slices.Collect(maps.Values(takeover.IgnoredFlags)), " "))
	for _, match := range flagOfHelp.FindAllStringSubmatch(help.String(), -1) {
		name := match[1]
		known = append(known, name)
		without, isTold := told[name]
		if !isTold {
			t.Errorf("docs/compatibility.md does not tell of --%s", name)
		}
		if isTold && without != slices.Contains(ignored, name) {
			t.Errorf("docs/compatibility.md and the program do not agree whether --%s has an effect", name)
		}
	}
	for name := range told {
		if !slices.Contains(known, name) {
			t.Errorf("docs/compatibility.md tells of --%s, which is no flag", name)
		}
	}
}

// The report on an upstream hub covers all flags of the manager and no others, and the defaults that differ from upstream's.
func TestCompatibility_TheReportOnAHubOfUpstreamsKnowsEveryFlag(t *testing.T) {
	var help bytes.Buffer
	if _, err := ParseFlags([]string{"--help"}, &help); !IsHelp(err) {
		t.Fatal(err)
	}
	var have []string
	for _, match := range flagOfHelp.FindAllStringSubmatch(help.String(), -1) {
		have = append(have, match[1])
	}
	known := slices.Concat(takeover.SharedFlags, takeover.NewFlags)
	for _, names := range takeover.IgnoredFlags {
		known = append(known, strings.Fields(names)...)
	}
	slices.Sort(have)
	slices.Sort(known)
	if diff := cmp.Diff(have, known); diff != "" {
		t.Errorf("flags of the manager (-), and those that package takeover knows (+):\n%s", diff)
	}
	with := func(args ...string) Config {
		c, err := ParseFlags(append([]string{"--oci-registry-host=r.example.com"}, args...), io.Discard)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return c
	}
	ours := with()
	for flag, value := range takeover.UpstreamDefaults {
		if cmp.Equal(with("--"+flag+"="+value), ours) {
			t.Errorf("--%s=%s is the default here, too", flag, value)
		}
	}
}
