package packaging_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestUnsatisfiable(t *testing.T) {
	istio := requirements.Requirement{Module: "istio", Version: ">=1.20 <2"}
	offers := func(channels ...v1beta2.ChannelVersion) *v1beta2.ModuleReleaseMeta {
		return &v1beta2.ModuleReleaseMeta{Spec: v1beta2.ModuleReleaseMetaSpec{Channels: channels}}
	}
	mandatory := &v1beta2.ModuleReleaseMeta{Spec: v1beta2.ModuleReleaseMetaSpec{Mandatory: &v1beta2.Mandatory{Version: "1.18.0"}}}
	for name, c := range map[string]struct {
		release *v1beta2.ModuleReleaseMeta
		one     requirements.Requirement
		want    []string
	}{
		"the same channel offers it":                            {offers(v1beta2.ChannelVersion{Channel: "regular", Version: "1.20.0"}), istio, nil},
		"another channel counts only where this one is missing": {offers(v1beta2.ChannelVersion{Channel: "fast", Version: "1.0.0"}), istio, nil},
		"any version will do":                                   {offers(v1beta2.ChannelVersion{Channel: "regular", Version: "0.1.0"}), requirements.Requirement{Module: "istio"}, nil},
		"a cluster's part is not judged":                        {nil, requirements.Requirement{Kubernetes: ">=9"}, nil},
		"the module is not released":                            {nil, istio, []string{"it needs module istio (>=1.20 <2), of which there is no ModuleReleaseMeta"}},
		"the channel offers too little": {offers(v1beta2.ChannelVersion{Channel: "regular", Version: "1.18.0"}), istio,
			[]string{"it needs module istio (>=1.20 <2), and channel regular of istio offers 1.18.0"}},
		"a mandatory module has too little": {mandatory, istio,
			[]string{"it needs module istio (>=1.20 <2), and istio is mandatory in version 1.18.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := packaging.Unsatisfiable("regular", []requirements.Requirement{c.one}, func(string) *v1beta2.ModuleReleaseMeta { return c.release })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
