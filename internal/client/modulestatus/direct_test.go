package modulestatus

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// direct returns a complete direct installation of beacon 1.0.0.
func direct(change ...func(*Direct)) Direct {
	d := Direct{
		Module: "beacon", Record: Key{"kyma-system", "manifest.direct-beacon"},
		DirectNote: DirectNote{
			Version: "1.0.0", Complete: true, Type: Community, Template: Key{"kcp-system", "beacon-1.0.0"}, Manager: manager(),
			Resource: refOf(custom("Beacon", "default", "")),
		},
		Inventory: []inventory.Entry{
			{ID: inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "kyma-system", Name: "beacon-manager"}, Version: "v1", Hash: "x"},
			{ID: inventory.ID{Kind: "ConfigMap", Namespace: "kyma-system", Name: "planned"}, Version: "v1"},
		},
	}
	for _, f := range change {
		f(&d)
	}
	return d
}

func TestDirectModules(t *testing.T) {
	ready := []*unstructured.Unstructured{deployment("r.io:5000/beacon:1.0.0"), custom("Beacon", "default", "Ready")}
	broken := func(o map[string]any) {
		o["status"] = map[string]any{"observedGeneration": int64(1), "conditions": []any{map[string]any{
			"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "stuck",
		}}}
	}
	waits := func(o map[string]any) { o["status"] = map[string]any{"observedGeneration": int64(1)} }
	goes := func(o map[string]any) { o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z" }
	for name, c := range map[string]struct {
		direct  Direct
		objects []*unstructured.Unstructured
		change  func(*Inputs)
		want    want
	}{
		"a complete one is installed, and the newest template is what is available": {
			direct(), ready, nil, want{state: Ready, phase: Installed, version: "1.0.0/1.0.0/1.1.0", typ: Manageable, module: Ready},
		},
		"a module that no release lists is a community module": {direct(), ready, func(in *Inputs) { in.Releases = nil }, want{typ: Community}},
		"a template with a manager label makes it manageable": {direct(), ready, func(in *Inputs) {
			in.Releases = nil
			in.Templates[0].Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
		}, want{typ: Manageable}},
		"with unreadable releases the type in the record counts": {direct(func(d *Direct) { d.Type = Manageable }), ready, func(in *Inputs) {
			in.Releases, in.Unread = nil, []Unread{{GroupKind: ownKind(kindRelease), Forbidden: true}}
		}, want{typ: Manageable}},
		"with a channel, its version counts": {
			direct(func(d *Direct) { d.Channel = "regular" }), ready, nil, want{version: "1.0.0/1.0.0/1.0.0"},
		},
		"without its channel, the newest version counts": {
			direct(func(d *Direct) { d.Channel = "slow" }), ready, nil, want{version: "1.0.0/1.0.0/1.1.0"},
		},
		"an interrupted installation names the command to continue": {
			direct(func(d *Direct) { d.Complete = false }), nil, nil,
			want{state: Processing, phase: Installing, reason: WhyInterrupted, message: "kyma add", version: "/1.0.0/1.1.0"},
		},
		"an interrupted upgrade shows what runs": {
			direct(func(d *Direct) { d.Complete, d.Version, d.Before = false, "1.1.0", "0.9.0" }), ready, nil,
			want{phase: Upgrading, message: "kyma upgrade", version: "1.0.0/1.1.0/1.1.0"},
		},
		"a failure has its message": {direct(func(d *Direct) { d.Trouble = "quota" }), ready, nil, want{state: Error, phase: Failed, message: "quota"}},
		"a deletion is a deletion":  {direct(func(d *Direct) { d.Deleting = true }), ready, nil, want{state: Deleting, phase: Removing}},
		"letting go of it is one, too": {direct(func(d *Direct) { d.Disowning = true }), ready, nil, want{
			state: Deleting, phase: Removing, message: "--keep-resources",
		}},
		"a damaged record is unknown":     {direct(func(d *Direct) { d.Unreadable = "no JSON" }), ready, nil, want{state: Unknown, phase: Obscure, module: Unknown}},
		"an operator that does not exist": {direct(), ready[1:], nil, want{state: Error, phase: Failed, reason: WhyManagerMissing}},
		"an unreadable operator":          {direct(), ready[1:], func(in *Inputs) { in.Looked = in.Looked[:1] }, want{state: Ready, phase: Installed}},
		"an operator that starts":         {direct(), []*unstructured.Unstructured{deployment("x:1", waits)}, nil, want{state: Processing, phase: Installing}},
		"an operator that is stuck":       {direct(), []*unstructured.Unstructured{deployment("x:1", broken)}, nil, want{state: Error, phase: Failed, message: "stuck"}},
		"an operator during deletion":     {direct(), []*unstructured.Unstructured{deployment("x:1", goes)}, nil, want{state: Deleting, phase: Removing}},
		"without inventory no progress":   {direct(func(d *Direct) { d.Complete, d.Inventory = false, nil }), nil, nil, want{phase: Installing}},
		"a template that is gone makes it orphaned": {direct(), ready, func(in *Inputs) {
			in.Templates, in.Looked = nil, append(in.Looked, ListedKind{GroupKind: ownKind(kindTemplate)})
		}, want{state: Warning, phase: Orphaned, reason: WhyTemplateGone}},
		"one from a file has no template that could be missing": {direct(func(d *Direct) { d.Template = Key{} }), ready, func(in *Inputs) {
			in.Templates, in.Looked = nil, append(in.Looked, ListedKind{GroupKind: ownKind(kindTemplate)})
		}, want{state: Ready, phase: Installed}},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen(nil, c.objects...)
			in.Direct = []Direct{c.direct}
			if c.change != nil {
				c.change(&in)
			}
			m := check(t, in, c.want)
			if m.Managed || m.Record == nil || m.Signed.State == "" {
				t.Errorf("managed %v, record %v, signed %q", m.Managed, m.Record, m.Signed.State)
			}
		})
	}
}

func TestModulesByHand(t *testing.T) {
	in := seen(nil, deployment("r.io/beacon@sha256:0000", func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{labelVersion: "v1.0.0"}
	}))
	m := check(t, in, want{state: Unmanaged, phase: LetGo, reason: WhyByHand, version: "1.0.0//1.1.0", module: NotConfigured})
	if m.Template.Name != "beacon-1.0.0" || !m.Version.Outdated {
		t.Errorf("template %v, outdated %v", m.Template, m.Version.Outdated)
	}
	in.Objects = nil
	if modules := Modules(in); len(modules) != 0 {
		t.Errorf("without its operator there is %+v", modules)
	}
}

func TestDirectNoteSurvivesItsRecord(t *testing.T) {
	note := direct().DirectNote
	annotations, err := note.Annotations()
	if err != nil {
		t.Fatal(err)
	}
	record := &metav1.ObjectMeta{Namespace: "kyma-system", Name: "manifest.direct-beacon", Labels: note.Labels("beacon"), Annotations: annotations}
	d := DirectOf(record)
	if d.Module != "beacon" || d.Unreadable != "" || d.Version != "1.0.0" || d.Manager.Name != "beacon-manager" || d.Resource.Kind != "Beacon" {
		t.Errorf("read %+v", d)
	}
	record.Annotations[AnnotationDirect] = "{"
	if d := DirectOf(record); d.Unreadable == "" {
		t.Error("a damaged note was read")
	}
}
