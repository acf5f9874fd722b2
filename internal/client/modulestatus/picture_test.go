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
