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
		"the first installation brings it":                        {want: true},
		"unless a user says otherwise":                            {policy: v1beta2.CustomResourcePolicyIgnore},
		"a first installation that was interrupted brings it":     {before: record(modulestatus.DirectNote{Version: "1.0.0"}), want: true},
		"what was installed without one stays so":                 {before: record(modulestatus.DirectNote{Version: "1.0.0", Complete: true})},
		"also while another version is being installed":           {before: record(modulestatus.DirectNote{Version: "1.1.0", Before: "1.0.0"})},
		"unless a user asks for it":                               {policy: v1beta2.CustomResourcePolicyCreateAndDelete, before: record(modulestatus.DirectNote{Complete: true}), want: true},
		"or says that an interrupted installation has none of it": {policy: v1beta2.CustomResourcePolicyIgnore, before: record(modulestatus.DirectNote{})},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WantsDefault(c.policy, c.before); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
