package module

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// newKymaRelease returns a release of modules and versions: "alpha", "1.0.0", "beta", "2.0.0".
func newKymaRelease(name string, modulesAndVersions ...string) *v1beta2.KymaRelease {
	release := &v1beta2.KymaRelease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1}}
	for i := 0; i < len(modulesAndVersions); i += 2 {
		release.Spec.Modules = append(release.Spec.Modules, v1beta2.ReleasedModule{Name: modulesAndVersions[i], Version: modulesAndVersions[i+1]})
	}
	return release
}

// onto has the Kyma name a release, and the hub have another one, or none.
func onto(name string, release *v1beta2.KymaRelease) func(*Snapshot) {
	return func(w *Snapshot) { w.Kyma.Spec.Release, w.Release = name, release }
}

func TestResolve_Release(t *testing.T) {
	named := onto("2.2", newKymaRelease("2.2", operator, v2))
	marked := func(w *Snapshot) {
		w.Releases[operator].Annotations = map[string]string{v1beta2.AnnotationRollout: "uid"}
	}
	for name, c := range map[string]struct {
		world []func(*Snapshot)
		want  verdictWords
	}{
		"a module has the version of the release, whatever the Kyma's channel offers": {
			[]func(*Snapshot){named}, verdictWords{Kind: Run, Version: v2}},
		"without a release the channel counts, even when the hub has one": {
			[]func(*Snapshot){onto("", newKymaRelease("2.2", operator, v2))}, verdictWords{Kind: Run, Channel: "regular", Version: v1}},
		"a channel of the entry goes before the release": {
			[]func(*Snapshot){named, ofChannel("regular")}, verdictWords{Kind: Run, Channel: "regular", Version: v1}},
		"a version of the entry goes before the release": {
			[]func(*Snapshot){named, pinned(v1)}, verdictWords{Kind: Run, Version: v1}},
		"the Kyma's channel need not be offered": {
			[]func(*Snapshot){named, func(w *Snapshot) { w.Kyma.Spec.Channel = "none" }}, verdictWords{Kind: Run, Version: v2}},
		"the version of a release waits for no rollout": {
			[]func(*Snapshot){named, marked}, verdictWords{Kind: Run, Version: v2}},
		"a user of the runtime who may pin nothing has not pinned it": {
			[]func(*Snapshot){named, func(w *Snapshot) { w.Unpinnable = map[string]bool{operator: true} }}, verdictWords{Kind: Run, Version: v2}},
		"a release that does not exist installs nothing": {
			[]func(*Snapshot){onto("2.2", nil)}, verdictWords{Kind: Refused, State: "Warning", Reason: "KymaReleaseNotFound",
				Message: `KymaRelease "2.2" was not found in namespace "kcp-system"`}},
		"a release that does not exist any more keeps what runs": {
			[]func(*Snapshot){onto("2.2", nil), installedAt("", v1)}, verdictWords{Kind: Keep, State: "Warning", Reason: "KymaReleaseNotFound",
				Message: `KymaRelease "2.2" was not found in namespace "kcp-system"`, Version: v1}},
		"another release is none": {
			[]func(*Snapshot){onto("2.3", newKymaRelease("2.2", operator, v2))}, verdictWords{Kind: Refused, State: "Warning",
				Reason: "KymaReleaseNotFound", Message: `KymaRelease "2.3" was not found in namespace "kcp-system"`}},
		"a module that the release does not have is not installed": {
			[]func(*Snapshot){onto("2.2", newKymaRelease("2.2", "other", v2))}, verdictWords{Kind: Refused, State: "Warning",
				Reason: "NotInRelease", Message: `KymaRelease "2.2" does not have module "template-operator"`}},
		"a module that the release does not have keeps what runs": {
			[]func(*Snapshot){onto("2.2", newKymaRelease("2.2", "other", v2)), installedAt("regular", v1)}, verdictWords{Kind: Keep, State: "Warning",
				Reason: "NotInRelease", Message: `KymaRelease "2.2" does not have module "template-operator"`, Channel: "regular", Version: v1}},
		"a version without a template keeps what runs": {
			[]func(*Snapshot){onto("2.2", newKymaRelease("2.2", operator, "3.0.0")), installedAt("", v1)}, verdictWords{Kind: Keep, State: "Error",
				Reason:  "TemplateNotFound",
				Message: `failed to get module template: ModuleTemplate.operator.kyma-project.io "template-operator-3.0.0" not found`, Version: v1}},
		"a lower version keeps what runs": {
			[]func(*Snapshot){onto("2.1", newKymaRelease("2.1", operator, v1)), installedAt("", v2)}, verdictWords{Kind: Keep, State: "Warning",
				Reason: "Downgrade", Message: `module template update not allowed: ignore channel skew (from version 2.0.0 to version 1.0.0), ` +
					`as a higher version (2.0.0) of the module was previously installed`, Version: v2}},
		"a release that is named in place of a channel of the same version changes nothing": {
			[]func(*Snapshot){named, installedAt("fast", v2)}, verdictWords{Kind: Run, Version: v2}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wordsOf(only(t, sampleWorld(c.world...)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFollows_NotARelease(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(*Snapshot)
		channel string
	}{
		"a module of a release follows no channel":       {func(*Snapshot) {}, ""},
		"a module with a channel of its own follows it":  {ofChannel("fast"), "fast"},
		"the runtime's entry has none of its own either": {seenInRuntime(""), ""},
		"the runtime's entry has one of its own":         {seenInRuntime("fast"), "fast"},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(onto("2.2", nil), c.edit)
			if channel, ok := Follows(w.Kyma, operator); channel != c.channel || ok != (c.channel != "") {
				t.Errorf("follows %q, %v", channel, ok)
			}
		})
	}
}

// seenInRuntime has the runtime's Kyma request the sample module, in a channel or in none.
func seenInRuntime(channel string) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Kyma.Status.LastSeen = &v1beta2.LastSeen{Runtime: &v1beta2.SeenSpec{
			Channel: "regular", Modules: []v1beta2.SeenModule{{Name: operator, Channel: channel}},
		}}
	}
}

func TestRollup_Release(t *testing.T) {
	named := onto("2.2", newKymaRelease("2.2", operator, v2))
	before := func(w *Snapshot) { w.Kyma.Status.Release = "2.1" }
	for name, c := range map[string]struct {
		world []func(*Snapshot)
		want  string
	}{
		"a Kyma whose modules are ready is on the release": {[]func(*Snapshot){installedAt("", v2), named}, "2.2"},
		"until then it was last on the one before":         {[]func(*Snapshot){installedAt("", v1), named, before}, "2.1"},
		"or on none":                                              {[]func(*Snapshot){installedAt("", v1), named}, ""},
		"a Kyma that names none is on none":                       {[]func(*Snapshot){installedAt("", v2), before}, ""},
		"a release that does not exist is not left":               {[]func(*Snapshot){installedAt("", v2), onto("2.1", nil), before}, "2.1"},
		"a module of its own does not count":                      {[]func(*Snapshot){installedAt("", v1), named, pinned(v1)}, "2.2"},
		"a module that is not managed does not count":             {[]func(*Snapshot){installedAt("", v1), named, unmanaged}, "2.2"},
		"a module that is missing in the release does":            {[]func(*Snapshot){installedAt("", v2), onto("2.2", newKymaRelease("2.2", "other", v2))}, ""},
		"a module that is not ready does":                         {[]func(*Snapshot){installedAt("", v2), named, theManifest(failing)}, ""},
		"a Kyma without modules has nothing that is not there":    {[]func(*Snapshot){named, disabled}, "2.2"},
		"a Kyma that is being deleted stays where it was":         {[]func(*Snapshot){installedAt("", v2), named, before, kymaDeleted}, "2.1"},
		"a module that is being removed is none of the release's": {[]func(*Snapshot){installedAt("", v1), named, disabled}, "2.2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(c.world...)
			if got := Rollup(w, Resolve(w), nil).Release; got != c.want {
				t.Errorf("on %q, want %q", got, c.want)
			}
		})
	}
}

func failing(m *v1beta2.Manifest) { reporting(m, v1beta2.StateError, "ObjectFailed", "because") }

// TestMergeRemoteStatus_Release: what a runtime does not confirm is no arrival.
func TestMergeRemoteStatus_Release(t *testing.T) {
	for name, c := range map[string]struct {
		side   RemoteState
		behind bool
		want   string
	}{
		"a runtime that responds":        {RemoteState{}, false, "2.2"},
		"a runtime that is unreachable":  {RemoteState{Access: &Access{Reason: v1beta2.ReasonRuntimeUnreachable}}, false, "2.1"},
		"a runtime that is connected to": {RemoteState{Access: &Access{Reason: v1beta2.ReasonRuntimeConnecting, Passing: true}}, false, "2.1"},
		"a spec that was not merged yet": {RemoteState{}, true, "2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(installedAt("", v2), onto("2.2", newKymaRelease("2.2", operator, v2)))
			w.Kyma.Status.Release, w.Behind = "2.1", c.behind
			if got := MergeRemoteStatus(w, Rollup(w, Resolve(w), nil), c.side).Release; got != c.want {
				t.Errorf("on %q, want %q", got, c.want)
			}
		})
	}
}

func TestJudgeRelease(t *testing.T) {
	requiring := func(version string, needs ...v1beta2.Requirement) *v1beta2.ModuleTemplate {
		template := newTemplate("alpha", version)
		template.Spec.Requires = needs
		return template
	}
	beta := newTemplate("beta", v1)
	for name, c := range map[string]struct {
		templates []*v1beta2.ModuleTemplate
		mandatory map[string]string
		reason    string
		missing   []string
		unmet     []string
	}{
		"complete":                 {[]*v1beta2.ModuleTemplate{requiring(v1), beta}, nil, "Complete", nil, nil},
		"a template is missing":    {[]*v1beta2.ModuleTemplate{beta}, nil, "TemplatesMissing", []string{"alpha-1.0.0"}, nil},
		"another version is there": {[]*v1beta2.ModuleTemplate{requiring(v2), beta}, nil, "TemplatesMissing", []string{"alpha-1.0.0"}, nil},
		"the release meets a requirement": {[]*v1beta2.ModuleTemplate{requiring(v1, v1beta2.Requirement{Module: "beta", Version: ">=1"}), beta}, nil,
			"Complete", nil, nil},
		"a mandatory module meets it": {[]*v1beta2.ModuleTemplate{requiring(v1, v1beta2.Requirement{Module: "gamma"}), beta},
			map[string]string{"gamma": v1}, "Complete", nil, nil},
		"a required module is not in it": {[]*v1beta2.ModuleTemplate{requiring(v1, v1beta2.Requirement{Module: "gamma"}), beta}, nil,
			"RequirementsUnmet", nil, []string{"alpha needs module gamma, which the release does not have"}},
		"a required module has another version": {
			[]*v1beta2.ModuleTemplate{requiring(v1, v1beta2.Requirement{Module: "beta", Version: ">=2"}), beta}, nil,
			"RequirementsUnmet", nil, []string{"alpha needs module beta (>=2), which has version 1.0.0"}},
		"what a cluster must have is not the release's matter": {
			[]*v1beta2.ModuleTemplate{requiring(v1, v1beta2.Requirement{Kubernetes: ">=1.30"}), beta}, nil, "Complete", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			facts := ReleaseFacts{
				Release: newKymaRelease("2.2", "alpha", v1, "beta", v1), Templates: map[string]*v1beta2.ModuleTemplate{},
				Mandatory: c.mandatory, Kymas: 3, OnRelease: 2, Now: noon,
			}
			for _, template := range c.templates {
				facts.Templates[template.Name] = template
			}
			got := JudgeRelease(facts)
			want := []any{c.reason, c.missing, c.unmet, int32(3), int32(2), int64(1)}
			said := []any{got.Conditions[0].Reason, got.MissingTemplates, got.UnmetRequirements, got.Kymas, got.KymasOnRelease, got.ObservedGeneration}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			facts.Release.Status, facts.Now = got, one
			if diff := cmp.Diff(got, JudgeRelease(facts)); diff != "" {
				t.Errorf("a second look changes the status (-first +second):\n%s", diff)
			}
		})
	}
}

func TestJudgeRelease_ListsAreBounded(t *testing.T) {
	release := newKymaRelease("big")
	for i := range 256 {
		release.Spec.Modules = append(release.Spec.Modules, v1beta2.ReleasedModule{Name: fmt.Sprintf("m%03d", i), Version: v1})
	}
	got := JudgeRelease(ReleaseFacts{Release: release, Now: noon})
	if len(got.MissingTemplates) != listedOfRelease || got.MissingTemplates[0] != "m000-1.0.0" {
		t.Errorf("%d are listed, from %s", len(got.MissingTemplates), got.MissingTemplates[0])
	}
}

// TestProperty_Release: whatever else is wrong, a module that follows a release gets its version or none, or keeps what runs and says why.
func TestProperty_Release(t *testing.T) {
	ran := 0
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		d := dice{rand.New(rand.NewPCG(uint64(len(w.Manifests)), uint64(len(w.Templates))))}
		kyma := *w.Kyma.DeepCopy()
		w.Kyma = &kyma
		onto("2.2", newKymaRelease(d.one("2.2", "2.2", "2.2", "2.1"), "alpha", d.version(), "beta", d.version(), "gamma", d.version()))(&w)
		for _, v := range Resolve(w) {
			entry := newResolver(w).spec[v.Module]
			if v.Mandatory || entry == nil || !FollowsRelease(w.Kyma, entry) || v.Kind == Removed || v.Kind == Unmanaged {
				continue
			}
			is := w.Release.Name == "2.2" && w.Release.VersionOf(v.Module) == v.Version && v.Version != ""
			if is && v.Kind == Run {
				ran++
			}
			if v.Kind == Run && !is && v.Back == "" || v.Kind != Run && v.Reason == "" {
				t.Errorf("%s: %s of version %s, which the release does not say: %+v", v.Module, v.Kind, v.Version, wordsOf(v))
			}
		}
	})
	if ran < 25 {
		t.Errorf("only %d modules ran in the version of a release: these worlds show nothing", ran)
	}
}

// TestProperty_NeverTwoReleases takes a Kyma of three modules through random changes of releases, entries and readiness. When a pass has
// written everything and all of it is ready, every module that follows the release has its version or says why it does not, and the status
// names the release exactly if all of them have it.
func TestProperty_NeverTwoReleases(t *testing.T) {
	moved := 0
	for seed := range uint64(60) {
		d := dice{rand.New(rand.NewPCG(seed, 7))}
		s := &story{t: t, w: newWorld(newKyma(module("alpha"), module("beta"), module("gamma")))}
		hub := releasesOfThree(&s.w)
		for step := range 30 {
			d.changeReleases(&s.w, hub)
			s.w.Release = hub[s.w.Kyma.Spec.Release]
			before := s.w.Kyma.Status.Release
			s.pass()
			if d.rarely(3) {
				s.manifests("Processing", "WaitingForObjects", "Deployment foo")
			}
			s.manifests("Ready", "Ready", "")
			if s.w.Kyma.Status.Release == "c" {
				moved++
			}
			if checkOneRelease(t, &s.w, before); t.Failed() {
				t.Fatalf("seed %d, step %d: %+v\n%+v", seed, step, s.w.Kyma.Spec, s.w.Kyma.Status)
			}
		}
	}
	if moved == 0 {
		t.Error("no Kyma ever came to the last release: this shows nothing")
	}
}

// releasesOfThree offers three modules in several versions, and returns releases of them: later ones have higher versions, and the last one
// lacks a module.
func releasesOfThree(w *Snapshot) map[string]*v1beta2.KymaRelease {
	versions := []string{"1.0.0", "1.2.0", "2.0.0", "10.0.0"}
	for _, name := range []string{"alpha", "beta", "gamma"} {
		w.Releases[name] = newRelease(name, "regular", versions[0], "fast", versions[1])
		for _, version := range versions {
			w.Templates[name+"-"+version] = newTemplate(name, version)
			w.Components[ComponentKey{componentOfModule(name), version}] = newComponent(version)
		}
	}
	return map[string]*v1beta2.KymaRelease{
		"a": newKymaRelease("a", "alpha", versions[0], "beta", versions[1], "gamma", versions[0]),
		"b": newKymaRelease("b", "alpha", versions[1], "beta", versions[2], "gamma", versions[2]),
		"c": newKymaRelease("c", "alpha", versions[3], "beta", versions[3], "gamma", versions[3]),
		"d": newKymaRelease("d", "alpha", versions[3], "beta", versions[3]),
	}
}

// changeReleases makes one change that a user of the hub or the runtime could make.
func (d dice) changeReleases(w *Snapshot, hub map[string]*v1beta2.KymaRelease) {
	w.Kyma.Generation++
	entry := &w.Kyma.Spec.Modules[d.IntN(len(w.Kyma.Spec.Modules))]
	switch d.IntN(6) {
	case 0, 1, 2:
		w.Kyma.Spec.Release = d.one("", "a", "b", "b", "c", "d", "gone")
	case 3:
		entry.Channel, entry.Version = d.one("", "", "regular", "fast"), ""
	case 4:
		entry.Channel, entry.Version = "", d.one("", "", "2.0.0")
	case 5:
		if name := d.one("a", "b"); hub[name] == nil {
			hub[name] = newKymaRelease(name, "alpha", "2.0.0", "beta", "2.0.0", "gamma", "2.0.0")
		} else {
			delete(hub, name)
		}
	}
}

// checkOneRelease checks a Kyma all of whose Manifests are ready, and that was on a release before the last change.
func checkOneRelease(t *testing.T, w *Snapshot, before string) {
	t.Helper()
	kyma := w.Kyma
	if kyma.Spec.Release == "" {
		if kyma.Status.Release != "" {
			t.Errorf("it is on %q and names none", kyma.Status.Release)
		}
		return
	}
	all := w.Release != nil
	for i := range kyma.Spec.Modules {
		entry := &kyma.Spec.Modules[i]
		if !FollowsRelease(kyma, entry) {
			continue
		}
		status := statusByName(kyma)[entry.Name]
		if w.Release != nil && status.Version == w.Release.VersionOf(entry.Name) && status.State == v1beta2.StateReady {
			continue
		}
		all = false
		if status.Reason == "" || status.State == v1beta2.StateReady {
			t.Errorf("%s has %s in state %s and does not say why", entry.Name, status.Version, status.State)
		}
	}
	want := before
	if all {
		want = kyma.Spec.Release
	}
	if kyma.Status.Release != want {
		t.Errorf("all of release %s are ready: %v; the status names %q, and before that %q", kyma.Spec.Release, all, kyma.Status.Release, before)
	}
}
