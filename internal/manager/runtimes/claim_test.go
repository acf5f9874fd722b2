package runtimes

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestClaimedBy_OffersOnlyIdentitiesForCopying(t *testing.T) {
	kyma := types.NamespacedName{Namespace: "kcp-system", Name: "one"}
	for _, test := range []struct {
		name, holder string
		want         string
		offered      bool
	}{
		{"an identity", "5d1a4a0e-6a9c-4b0e-8f1e-7e4f2f5d9a10", "hub 5d1a4a0e-6a9c-4b0e-8f1e-7e4f2f5d9a10 manages", true},
		{"a command", "$(reboot)", `hub "$(reboot)" manages`, false},
		{"several lines", "one\ntwo", `hub "one\ntwo" manages`, false},
		{"the start of another one", "a;b", `hub "a;b" manages`, false},
		{"too long", strings.Repeat("a", longestHub+1), `hub "` + strings.Repeat("a", longestHub) + `" manages`, false},
		{"letters of many bytes", strings.Repeat("\u00e9", longestHub), `\u00e9" manages`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			problem := ClaimedBy("us", test.holder, kyma)
			if problem.Reason != v1beta2.ReasonRuntimeClaimed || problem.Passing || problem.Retry == 0 {
				t.Errorf("reason %s, passing %t, again after %s", problem.Reason, problem.Passing, problem.Retry)
			}
			if !strings.Contains(problem.Message, test.want) {
				t.Errorf("message %q, want %q in it", problem.Message, test.want)
			}
			if offered := strings.Contains(problem.Message, v1beta2.AnnotationTakeOverFrom+"="); offered != test.offered {
				t.Errorf("offered for a command: %t, want %t: %s", offered, test.offered, problem.Message)
			}
		})
	}
}
