package kymaedit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// manifestAsking returns a Manifest that asks for a version, and has revisions of these versions and outcomes, such as "1.0.0 Succeeded";
// "1.0.0#b" has another template.
func manifestAsking(version string, history ...string) *v1beta2.Manifest {
	spec := func(version string) v1beta2.ManifestSpec {
		version, template, edited := strings.Cut(version, "#")
		spec := v1beta2.ManifestSpec{Version: version}
		if edited {
			spec.Manager = &v1beta2.Manager{Name: template}
		}
		spec.Install.Source.Raw = []byte(`{"ref":"` + version + `"}`)
		return spec
	}
	manifest := &v1beta2.Manifest{Spec: spec(version)}
	for i, one := range history {
		of, outcome, _ := strings.Cut(one, " ")
		planned := spec(of)
		key := revision.Of(&planned)
		revised := v1beta2.Revision{Number: int64(i + 5), Version: planned.Version, Digest: key.Digest, Template: key.Template,
			Outcome: v1beta2.RevisionOutcome(outcome)}
		if outcome == string(v1beta2.RevisionRolledBack) {
			revised.Reason = v1beta2.ReasonProgressDeadlineExceeded
		}
		manifest.Status.Revisions = append(manifest.Status.Revisions, revised)
	}
	return manifest
}

func referenceOf(version string) string {
	return revision.ReferenceOf(manifestAsking(version, version).Status.Revisions[0])
}

func TestFindWayBack(t *testing.T) {
	templates := func(rollbackTo string, versions ...string) []v1beta2.ModuleTemplate {
		var all []v1beta2.ModuleTemplate
		for _, version := range versions {
			all = append(all, v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: "notes-" + version},
				Spec: v1beta2.ModuleTemplateSpec{ModuleName: "notes", Version: version, RollbackTo: rollbackTo}})
		}
		return all
	}
	all := templates(">=1.1.0", "1.0.0", "1.1.0", "1.2.0")
	for name, c := range map[string]struct {
		manifest  *v1beta2.Manifest
		avoid     string // by a person
		held      string // by itself
		templates []v1beta2.ModuleTemplate
		number    int64
		avoids    string
		to        string
		already   bool
		unvouched string
		why       string
	}{
		"to the last one that succeeded":                   {manifest: manifestAsking("1.2.0", "1.0.0 Succeeded", "1.1.0 Succeeded", "1.2.0"), templates: all, avoids: "1.2.0", to: "1.1.0"},
		"from one that succeeded, too":                     {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0 Succeeded"), templates: all, avoids: "1.2.0", to: "1.1.0"},
		"to a revision that is named":                      {manifest: manifestAsking("1.2.0", "1.0.0 Succeeded", "1.1.0 Succeeded", "1.2.0"), templates: all, number: 5, avoids: "1.2.0", to: "1.0.0", unvouched: `says that only ">=1.1.0" can take over from it`},
		"without the author's word":                        {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0"), templates: templates("", "1.1.0", "1.2.0"), avoids: "1.2.0", to: "1.1.0", unvouched: "does not say whether 1.1.0 can take over"},
		"without the template that has it":                 {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0"), templates: templates("", "1.1.0"), avoids: "1.2.0", to: "1.1.0", unvouched: "there is no ModuleTemplate of version 1.2.0"},
		"it went back by itself":                           {manifest: manifestAsking("1.1.0", "1.1.0 Succeeded", "1.2.0 RolledBack", "1.1.0"), held: "1.2.0", templates: all, avoids: "1.2.0", to: "1.1.0", already: true},
		"a person went back":                               {manifest: manifestAsking("1.1.0", "1.1.0 Succeeded", "1.2.0", "1.1.0"), avoid: "1.2.0", templates: all, avoids: "1.2.0", to: "1.1.0", already: true},
		"further back, once it went back":                  {manifest: manifestAsking("1.1.0", "1.0.0 Succeeded", "1.1.0 Succeeded", "1.2.0 RolledBack", "1.1.0 Succeeded"), held: "1.2.0", templates: all, number: 5, avoids: "1.2.0", to: "1.0.0", unvouched: "does not include 1.0.0"},
		"what is avoided is what runs: it is leaving":      {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0"), avoid: "1.2.0", templates: all, avoids: "1.2.0", to: "1.1.0"},
		"a corrected template of what went back by itself": {manifest: manifestAsking("1.2.0", "1.0.0 Succeeded", "1.1.0 RolledBack", "1.0.0 Succeeded", "1.1.0#b Succeeded", "1.2.0"), templates: all, avoids: "1.2.0", to: "1.1.0"},
		"not the same content with the template of before": {manifest: manifestAsking("1.2.0#b", "1.1.0 Succeeded", "1.2.0 Succeeded", "1.2.0#b"), templates: all, avoids: "1.2.0", to: "1.1.0"},
		"nor where it is named":                            {manifest: manifestAsking("1.2.0#b", "1.1.0 Succeeded", "1.2.0 Succeeded", "1.2.0#b"), templates: all, number: 6, why: "revision 6 is the version 1.2.0 that it leaves"},
		"a later version came since it went back":          {manifest: manifestAsking("1.2.0", "1.0.0 Succeeded", "1.1.0 RolledBack", "1.0.0 Succeeded", "1.2.0"), avoid: "1.1.0", templates: templates(">=1.0.0", "1.0.0", "1.2.0"), avoids: "1.2.0", to: "1.0.0"},
		"nothing succeeded":                                {manifest: manifestAsking("1.2.0", "1.1.0 Failed", "1.2.0"), templates: all, why: "no earlier version of it succeeded here"},
		"a revision that is not kept":                      {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0"), templates: all, number: 4, why: "revision 4 is not kept; it has 6 (1.2.0), 5 (1.1.0)"},
		"the revision that runs":                           {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0"), templates: all, number: 6, why: "revision 6 is the version 1.2.0 that it leaves"},
		"the template is gone":                             {manifest: manifestAsking("1.2.0", "1.1.0 Succeeded", "1.2.0"), templates: templates("", "1.2.0"), why: "there is no ModuleTemplate of version 1.1.0 any more"},
		"nothing is installed":                             {why: "there is no history of it yet"},
		"a manager of before wrote no history":             {manifest: manifestAsking("1.2.0"), why: "there is no history of it yet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := KymaContext{Kyma: &v1beta2.Kyma{}, Templates: c.templates}
			if c.avoid != "" {
				s.Kyma.Spec.Modules = []v1beta2.Module{{Name: "notes", Avoid: referenceOf(c.avoid)}}
			}
			if c.held != "" {
				s.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", Avoid: referenceOf(c.held)}}
			}
			way, err := s.FindWayBack("notes", c.manifest, c.number)
			if c.why != "" {
				if stuck, is := errors.AsType[*NoWayBackError](err); !is || !strings.Contains(stuck.Error(), "module notes cannot go back: "+c.why) {
					t.Errorf("the error is %v, want %q", err, c.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if way.Avoid != referenceOf(c.avoids) || way.To.Version != c.to || way.Already != c.already || way.Number != c.number {
				t.Errorf("from %s to %s (%d), already there: %v", way.Avoid, way.To.Version, way.Number, way.Already)
			}
			if (way.Unvouched == "") != (c.unvouched == "") || !strings.Contains(way.Unvouched, c.unvouched) {
				t.Errorf("unvouched: %q, want %q", way.Unvouched, c.unvouched)
			}
		})
	}
}

func TestGoBackAndRetry(t *testing.T) {
	history := manifestAsking("1.1.0", "1.1.0 Succeeded", "1.2.0 RolledBack", "1.1.0").Status.Revisions
	way := WayBack{Avoid: "1.2.0@sha256:2", Number: 5}
	for name, c := range map[string]struct {
		have v1beta2.Module
		edit func(*v1beta2.KymaSpec) Change
		want v1beta2.Module
		did  string
	}{
		"a version is avoided":             {v1beta2.Module{Name: "notes"}, func(s *v1beta2.KymaSpec) Change { return GoBack(s, "notes", way) }, v1beta2.Module{Name: "notes", Avoid: way.Avoid, BackTo: 5}, "changed avoid backTo"},
		"it is avoided already":            {v1beta2.Module{Name: "notes", Avoid: way.Avoid, BackTo: 5}, func(s *v1beta2.KymaSpec) Change { return GoBack(s, "notes", way) }, v1beta2.Module{Name: "notes", Avoid: way.Avoid, BackTo: 5}, "unchanged"},
		"what went back by itself":         {v1beta2.Module{Name: "notes"}, func(s *v1beta2.KymaSpec) Change { return Retry(s, "notes", history) }, v1beta2.Module{Name: "notes", Retry: 6}, "changed retry"},
		"what a person avoids, and both":   {v1beta2.Module{Name: "notes", Avoid: "x", BackTo: 5, Retry: 2}, func(s *v1beta2.KymaSpec) Change { return Retry(s, "notes", history) }, v1beta2.Module{Name: "notes", Retry: 6}, "changed avoid backTo retry"},
		"it is tried again already":        {v1beta2.Module{Name: "notes", Retry: 6}, func(s *v1beta2.KymaSpec) Change { return Retry(s, "notes", history) }, v1beta2.Module{Name: "notes", Retry: 6}, "unchanged"},
		"nothing is held, without history": {v1beta2.Module{Name: "notes"}, func(s *v1beta2.KymaSpec) Change { return Retry(s, "notes", nil) }, v1beta2.Module{Name: "notes"}, "unchanged"},
		"another module":                   {v1beta2.Module{Name: "notes"}, func(s *v1beta2.KymaSpec) Change { return Retry(s, "beacon", history) }, v1beta2.Module{Name: "notes"}, "unchanged"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &v1beta2.KymaSpec{Modules: []v1beta2.Module{c.have}}
			change := c.edit(spec)
			if did := strings.Join(append([]string{string(change.Action)}, change.Fields...), " "); did != c.did {
				t.Errorf("it was %q, want %q", did, c.did)
			}
			if diff := cmp.Diff([]v1beta2.Module{c.want}, spec.Modules); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if text := (&NothingHeldError{"notes"}).Error(); !strings.Contains(text, "module notes avoids no version") {
		t.Errorf("the error says %q", text)
	}
}
