package modulestatus

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestHistories_MarkWhatRunsAndWhereARollbackGoes(t *testing.T) {
	const byItself = v1beta2.ReasonProgressDeadlineExceeded
	rev := func(number int64, version string, outcome v1beta2.RevisionOutcome, reason string) v1beta2.Revision {
		return v1beta2.Revision{Number: number, Version: version, Digest: "sha256:" + strings.Repeat("a", 64), Outcome: outcome, Reason: reason}
	}
	edited := func(r v1beta2.Revision) v1beta2.Revision {
		r.Template = "edited"
		return r
	}
	avoids := func(version string) v1beta2.Module {
		return v1beta2.Module{Avoid: version + "@sha256:" + strings.Repeat("a", 64)}
	}
	for sentence, test := range map[string]struct {
		known []v1beta2.Revision
		asked v1beta2.Module
		want  string
	}{
		"nothing is known": {},
		"the first is under way": {
			known: []v1beta2.Revision{rev(1, "1.0.0", "", "")}, want: "1 (under way) requested",
		},
		"the newest runs, and the one before is the way back": {
			known: []v1beta2.Revision{rev(1, "1.0.0", "Succeeded", ""), rev(2, "1.1.0", "Succeeded", "")},
			want:  "2 Succeeded running, 1 Succeeded rollback goes here",
		},
		"the newest failed": {
			known: []v1beta2.Revision{rev(1, "1.0.0", "Succeeded", ""), rev(2, "1.1.0", "Failed", "ObjectFailed")},
			want:  "2 Failed requested, 1 Succeeded rollback goes here",
		},
		"it went back by itself": {
			known: []v1beta2.Revision{rev(2, "1.1.0", "RolledBack", byItself), rev(3, "1.0.0", "Succeeded", "")},
			want:  "3 Succeeded running, 2 RolledBack held",
		},
		"a retry was asked for": {
			known: []v1beta2.Revision{rev(2, "1.1.0", "RolledBack", byItself), rev(3, "1.0.0", "Succeeded", "")},
			asked: v1beta2.Module{Retry: 2}, want: "3 Succeeded running, 2 RolledBack ",
		},
		"a rollback does not go to what a person went back from": {
			known: []v1beta2.Revision{rev(1, "1.0.0", "Succeeded", ""), rev(2, "1.1.0", "Succeeded", ""), rev(3, "1.2.0", "", "")},
			asked: avoids("1.1.0"), want: "3 (under way) requested, 2 Succeeded , 1 Succeeded rollback goes here",
		},
		"a corrected template of what went back by itself succeeded, and is the way back": {
			known: []v1beta2.Revision{rev(1, "1.0.0", "Succeeded", ""), edited(rev(2, "1.1.0", "RolledBack", byItself)),
				rev(3, "1.1.0", "Succeeded", ""), rev(4, "1.2.0", "", "")},
			want: "4 (under way) requested, 3 Succeeded rollback goes here, 2 RolledBack held, 1 Succeeded ",
		},
	} {
		manifest := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
			Namespace: "kcp-system", Name: "m", Labels: map[string]string{
				v1beta2.LabelKymaName: "alice", v1beta2.LabelModuleName: "notes", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			},
		}}
		manifest.Status.Revisions = test.known
		kyma := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice"}}
		test.asked.Name = "notes"
		kyma.Spec.Modules = []v1beta2.Module{{Name: "other"}, test.asked}
		other := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "bob"}}
		in := Inputs{Kymas: []v1beta2.Kyma{other, kyma}, Manifests: []v1beta2.Manifest{manifest}}
		found := Histories(in, Modules(in), "notes")
		if len(found) != 1 || found[0].Kyma != "kcp-system/alice" || found[0].Manifest.Name != "m" {
			t.Fatalf("%s: %+v", sentence, found)
		}
		var lines []string
		for _, e := range found[0].Revisions {
			lines = append(lines, fmt.Sprintf("%d %s %s", e.Number, e.End(), e.Mark()))
		}
		if got := strings.Join(lines, ", "); got != test.want {
			t.Errorf("%s: %s, want %s", sentence, got, test.want)
		}
	}
}

func TestHistories_OfWhatHasNoManifestOrNoKyma(t *testing.T) {
	kyma := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice"}}
	kyma.Spec.Modules = []v1beta2.Module{{Name: "notes"}}
	lone := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kcp-system", Name: "lone", Labels: map[string]string{v1beta2.LabelModuleName: "lone"},
	}}
	lone.Status.Revisions = []v1beta2.Revision{{Number: 1, Outcome: v1beta2.RevisionSucceeded}}
	in := Inputs{Kymas: []v1beta2.Kyma{kyma}, Manifests: []v1beta2.Manifest{lone}}
	if found := Histories(in, Modules(in), "notes"); found == nil || len(found) != 0 {
		t.Errorf("without a Manifest: %+v", found)
	}
	if found := Histories(in, Modules(in), "lone"); len(found) != 1 || found[0].Kyma != "" || len(found[0].Revisions) != 1 {
		t.Errorf("without a Kyma: %+v", found)
	}
}
