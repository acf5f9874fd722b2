package getcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestSourceAnswers_NewerVersionsOfCatalogs(t *testing.T) {
	ours, broken := modulestatus.Origin{Name: "ours", URL: "https://example.com/ours"}, modulestatus.Origin{URL: "https://example.com/broken"}
	direct := func(module, version string, origin *modulestatus.Origin, complete bool) modulestatus.Direct {
		d := modulestatus.Direct{Module: module, Record: modulestatus.Key{Namespace: "kyma-system", Name: module}}
		d.Version, d.Before, d.Origin, d.Complete, d.Type = version, "1.0.0", origin, complete, modulestatus.Community
		return d
	}
	in := modulestatus.Inputs{Direct: []modulestatus.Direct{
		direct("kiosk", "1.0.0", &ours, true), direct("mailbox", "1.2.0", &ours, true), direct("fountain", "1.1.0", &ours, false),
		direct("lamp", "1.0.0", &broken, true), direct("bench", "1.0.0", nil, true),
	}}
	asked, said := 0, ""
	answers := &sourceAnswers{
		kept: map[modulestatus.Origin]map[string][]string{},
		say:  func(format string, args ...any) { said += fmt.Sprintf(format, args...) + "\n" },
		read: func(_ context.Context, _ string, origin modulestatus.Origin) (communitycatalog.Catalog, error) {
			asked++
			if origin == broken {
				return communitycatalog.Catalog{}, errors.New("it does not answer")
			}
			var found communitycatalog.Catalog
			for _, name := range []string{"kiosk", "mailbox", "fountain"} {
				for _, version := range []string{"1.0.0", "1.1.0", "1.2.0-rc1"} {
					template := v1beta2.ModuleTemplate{}
					template.Spec.ModuleName, template.Spec.Version = name, version
					found.Templates = append(found.Templates, template)
				}
			}
			return found, nil
		},
	}
	want := map[string]bool{"kiosk": true, "mailbox": false, "fountain": true, "lamp": false, "bench": false}
	for range 2 { // a watch asks once
		for _, m := range answers.newer(t.Context(), &in, modulestatus.Modules(in)) {
			if m.Version.Outdated != want[m.Name] {
				t.Errorf("%s: %+v", m.Name, m.Version)
			}
		}
	}
	if asked != 2 || strings.Count(said, "it does not answer") != 1 {
		t.Errorf("asked %d times, said %q", asked, said)
	}
	if !unasked(&in) || unasked(&modulestatus.Inputs{Direct: in.Direct[4:]}) {
		t.Error("which catalogs were not asked is wrong")
	}
}
