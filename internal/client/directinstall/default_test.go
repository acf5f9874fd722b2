package directinstall

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestWantsDefault(t *testing.T) {
	record := func(note modulestatus.DirectNote) *modulestatus.Direct { return &modulestatus.Direct{DirectNote: note} }
	for name, c := range map[string]struct {
		policy v1beta2.CustomResourcePolicy
		before *modulestatus.Direct
		want   bool
	}{
		"the first installation creates it":                     {want: true},
		"unless the user excludes it":                           {policy: v1beta2.CustomResourcePolicyIgnore},
		"an interrupted first installation creates it":          {before: record(modulestatus.DirectNote{Version: "1.0.0"}), want: true},
		"a module without one stays without":                    {before: record(modulestatus.DirectNote{Version: "1.0.0", Complete: true})},
		"also during the installation of another version":       {before: record(modulestatus.DirectNote{Version: "1.1.0", Before: "1.0.0"})},
		"unless the user requests it":                           {policy: v1beta2.CustomResourcePolicyCreateAndDelete, before: record(modulestatus.DirectNote{Complete: true}), want: true},
		"an interrupted installation, but the user excludes it": {policy: v1beta2.CustomResourcePolicyIgnore, before: record(modulestatus.DirectNote{})},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WantsDefault(c.policy, c.before); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
