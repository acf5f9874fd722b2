package modulestatus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestModules_ThePictureIsAllListsAtOnce(t *testing.T) {
	in := Inputs{
		Kymas: []v1beta2.Kyma{remoteKyma()}, Manifests: []v1beta2.Manifest{manifest()},
		Releases:  []v1beta2.ModuleReleaseMeta{release("telemetry", "regular", "1.0.0")},
		Templates: []v1beta2.ModuleTemplate{template("telemetry", "1.0.0")},
	}
	want := Overview{Kymas: Kymas(in), Modules: Modules(in), Offers: Catalog(in)}
	if len(want.Kymas) == 0 || len(want.Modules) == 0 || len(want.Offers) == 0 {
		t.Fatalf("there is nothing to see: %+v", want)
	}
	if diff := cmp.Diff(want, PictureOf(in)); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestCustomResourcesOfRuntimes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1beta2.Kyma, *v1beta2.Manifest)
		want   want
	}{
		"the hub reports the last state":     {func(_ *v1beta2.Kyma, m *v1beta2.Manifest) { m.Status.ResourceState = "Error" }, want{state: Error, module: Error}},
		"the Kyma's status takes precedence": {func(k *v1beta2.Kyma, _ *v1beta2.Manifest) { k.Status.Modules[0].ResourceState = "Ready" }, want{state: Ready, module: Ready}},
		"a missing state is no problem":      {func(*v1beta2.Kyma, *v1beta2.Manifest) {}, want{state: Ready, module: Unknown, modules: WhyNotObserved}},
		"a user's resource is not checked":   {func(k *v1beta2.Kyma, _ *v1beta2.Manifest) { k.Spec.Modules[0].CustomResourcePolicy = "Ignore" }, want{state: Ready, module: Unknown}},
		"no resource is no problem":          {func(_ *v1beta2.Kyma, m *v1beta2.Manifest) { m.Spec.Resource = nil }, want{state: Ready}},
	} {
		t.Run(name, func(t *testing.T) {
			kyma, made := remoteKyma(), manifest()
			c.change(&kyma, &made)
			in := seen([]v1beta2.Kyma{kyma})
			in.Manifests = []v1beta2.Manifest{made}
			check(t, in, c.want)
		})
	}
}
