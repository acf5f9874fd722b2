package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// past returns a module of a Kyma whose Manifest asks for 1.1.0 and had 1.0.0 before.
func past() *one {
	spec := func(version string) v1beta2.ManifestSpec {
		s := v1beta2.ManifestSpec{Version: version}
		s.Install.Source.Raw = []byte(`{"type":"helm","chart":"` + version + `"}`)
		return s
	}
	manifest := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "demo-notes"}, Spec: spec("1.1.0")}
	for number, version := range map[int64]string{3: "1.0.0", 4: "1.1.0"} {
		of := spec(version)
		key := revision.Of(&of)
		manifest.Status.Revisions = append(manifest.Status.Revisions, v1beta2.Revision{
			Number: number, Version: key.Version, Digest: key.Digest, Template: key.Template, At: metav1.Now(), Outcome: v1beta2.RevisionSucceeded,
		})
	}
	slices.SortFunc(manifest.Status.Revisions, func(a, b v1beta2.Revision) int { return int(a.Number - b.Number) })
	kyma := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "demo"}, Spec: v1beta2.KymaSpec{Channel: "fast"}}
	kyma.Spec.Modules = []v1beta2.Module{{Name: "notes"}}
	kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", Version: "1.1.0", State: v1beta2.StateReady}}
	var in modulestatus.Inputs
	in.Kymas, in.Manifests = []v1beta2.Kyma{kyma}, []v1beta2.Manifest{manifest}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		template := v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "notes-" + version}}
		template.Spec.ModuleName, template.Spec.Version = "notes", version
		in.Templates = append(in.Templates, template)
	}
	module := &modulestatus.Module{Name: "notes", Kyma: "a/demo", Manifest: &modulestatus.Key{Namespace: "a", Name: "demo-notes"}}
	return &one{now: &snapshot{in: in}, module: module, in: in, kyma: &in.Kymas[0]}
}

func TestHistory_WhatAModuleCanGoBackTo(t *testing.T) {
	left := revision.ReferenceOf(past().in.Manifests[0].Status.Revisions[1])
	for name, c := range map[string]struct {
		change func(*one)
		way    string
		lines  []string
	}{
		"the last version that succeeded is the way back": {
			func(*one) {}, "back from " + left + " to 1.0.0", []string{"4 1.1.0 now", "3 1.0.0 way back"},
		},
		"what a person went back from is avoided, and can be tried again": {
			func(o *one) { o.kyma.Spec.Modules[0].Avoid = left }, "back from " + left + " to 1.0.0, retry", []string{"4 1.1.0 now avoided", "3 1.0.0 way back"},
		},
		"what went back by itself is avoided, too": {
			func(o *one) {
				o.kyma.Status.Modules[0].Avoid = left
				r := &o.in.Manifests[0].Status.Revisions[1]
				r.Outcome, r.Reason = v1beta2.RevisionRolledBack, v1beta2.ReasonProgressDeadlineExceeded
			}, "back from " + left + " to 1.0.0, retry", []string{"4 1.1.0 now avoided", "3 1.0.0 way back"},
		},
		"without the template of the version before there is none": {
			func(o *one) { o.now.in.Templates = o.now.in.Templates[1:] }, "none: no ModuleTemplate of version 1.0.0", []string{"4 1.1.0 now", "3 1.0.0"},
		},
		"without a history there is none": {
			func(o *one) { o.in.Manifests[0].Status.Revisions = nil }, "none: there is no history of it yet", nil,
		},
		"a Manifest that may not be read has none": {func(o *one) { o.in.Manifests = nil }, "none: there is no history of it yet", nil},
		"a mandatory module is taken back with its release": {
			func(o *one) { o.module.Mandatory = true }, "", []string{"4 1.1.0 now", "3 1.0.0"},
		},
		"a module without a Kyma is not managed": {func(o *one) { o.kyma, o.module.Manifest = nil, nil }, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := past()
			c.change(o)
			d := moduleDetail{Access: moduleAccess{Edit: true}}
			d.history(o)
			if got := wayText(&d.Way); got != c.way && (c.way == "" || !strings.HasPrefix(c.way, "none: ") || !strings.Contains(got, c.way[6:])) {
				t.Errorf("got %q, want %q", got, c.way)
			}
			var lines []string
			for _, r := range d.Timeline {
				line := fmt.Sprintf("%d %s", r.Number, r.Version)
				for word, is := range map[string]bool{" now": r.Current, " way back": r.WayBack} {
					if is {
						line += word
					}
				}
				if r.Avoided {
					line += " avoided"
				}
				lines = append(lines, line)
			}
			if !slices.Equal(lines, c.lines) || d.Timeline == nil {
				t.Errorf("timeline %q, want %q", lines, c.lines)
			}
		})
	}
}

// wayText writes the buttons of a module in one line.
func wayText(way *moduleWay) string {
	var parts []string
	if way.None != "" {
		parts = append(parts, "none: "+way.None)
	}
	for _, act := range []*deedAct{way.Back, way.Retry} {
		switch {
		case act == nil:
		case act.Deed.Kind == operations.Back:
			parts = append(parts, "back from "+act.Deed.Target+" to "+act.Deed.Version)
		default:
			parts = append(parts, string(act.Deed.Kind))
		}
		if act != nil && (act.Deed.Validate() != nil || act.Deed.Kyma != "a/demo" || !act.Allowed) {
			parts = append(parts, fmt.Sprintf("wrong: %+v", act))
		}
	}
	return strings.Join(parts, ", ")
}

func TestHistory_WhoMayNotChangeTheKymaIsTold(t *testing.T) {
	d := moduleDetail{}
	d.history(past())
	if d.Way.Back == nil || d.Way.Back.Allowed || d.Way.Back.Why == "" {
		t.Errorf("%+v", d.Way.Back)
	}
}
