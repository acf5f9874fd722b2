package modulestatus

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// withValues returns a spec with that many modules and, of those from one to before another, values.
func withValues(values string, modules, from, to int) v1beta2.KymaSpec {
	spec := v1beta2.KymaSpec{Channel: "regular"}
	for i := range modules {
		entry := v1beta2.Module{Name: fmt.Sprintf("m%02d", i)}
		if from <= i && i < to {
			entry.Values = &runtime.RawExtension{Raw: []byte(values)}
		}
		spec.Modules = append(spec.Modules, entry)
	}
	return spec
}

func TestEffective_Values(t *testing.T) {
	full := `{"a":"` + strings.Repeat("x", v1beta2.MaxEntryValues-8) + `"}`
	const theirs, null = `{"a":1}`, `{"a":null}`
	for name, tc := range map[string]struct {
		hub, lastHub, lastRuntime v1beta2.KymaSpec
		// first are the values of the first module, and full is how many have all that an entry may have.
		first string
		full  int
	}{
		"those of the runtime's user count":                    {withValues(full, 2, 0, 1), withValues(full, 2, 0, 1), withValues(theirs, 2, 0, 1), theirs, 0},
		"those of the hub that are refused stay to be seen":    {withValues(null, 2, 0, 1), withValues(full, 2, 0, 1), withValues(theirs, 2, 0, 1), null, 0},
		"what cannot be merged leaves what was merged last":    {withValues(full, 15, 0, 7), withValues("", 15, 0, 0), withValues(full, 15, 7, 15), "", 8},
		"what can be merged again counts":                      {withValues(full, 15, 0, 2), withValues("", 15, 0, 0), withValues(full, 15, 7, 15), full, 10},
		"refused values of a module that is gone are no one's": {withValues(null, 3, 2, 3), withValues("", 3, 0, 0), withValues(theirs, 2, 0, 1), theirs, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lastHub, lastRuntime := module.SeenOf(&tc.lastHub), module.SeenOf(&tc.lastRuntime)
			kyma := remoteKyma(func(k *v1beta2.Kyma) {
				k.Spec, k.Status.LastSeen = tc.hub, &v1beta2.LastSeen{Hub: &lastHub, Runtime: &lastRuntime}
			})
			spec, found, first := Effective(&kyma), 0, ""
			for i := range spec.Modules {
				values := spec.Modules[i].Values
				if values != nil && string(values.Raw) == full {
					found++
				}
				if values != nil && spec.Modules[i].Name == "m00" {
					first = string(values.Raw)
				}
			}
			if first != tc.first || found != tc.full {
				t.Errorf("the first module has %.40q, want %.40q; %d are full, want %d", first, tc.first, found, tc.full)
			}
		})
	}
}
