package testkit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2/types"
)

func TestFailuresAreRepeatedInShort(t *testing.T) {
	at := types.CodeLocation{FileName: "a_test.go", LineNumber: 7}
	report := types.Report{SpecReports: types.SpecReports{
		{LeafNodeText: "works", State: types.SpecStatePassed},
		{ContainerHierarchyTexts: []string{"A module"}, LeafNodeText: "installs", State: types.SpecStateFailed, Failure: types.Failure{
			Message: "Expected\n    " + strings.Repeat("x", 2*columnsTold) + strings.Repeat("\nmore", 2*linesTold), Location: at,
		}},
		{LeafNodeType: types.NodeTypeBeforeSuite, State: types.SpecStatePanicked, Failure: types.Failure{
			Message: "Test Panicked", ForwardedPanic: "nil map", Location: at,
		}},
	}}
	want := "\nFAILED: A module installs\n  at a_test.go:7\n  Expected\n      " + strings.Repeat("x", columnsTold-4) +
		strings.Repeat("\n  more", linesTold-2) + "\n\nFAILED: BeforeSuite\n  at a_test.go:7\n  Test Panicked\n  nil map\n"
	if diff := cmp.Diff(want, failuresOf(report)); diff != "" {
		t.Error(diff)
	}
	if text := failuresOf(types.Report{}); text != "" {
		t.Errorf("of a suite without failures it says %q", text)
	}
}
