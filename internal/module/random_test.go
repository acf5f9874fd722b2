package module

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// dice generates Snapshots in which everything may be wrong at once.
type dice struct{ *rand.Rand }

func (d dice) one(of ...string) string { return of[d.IntN(len(of))] }

// rarely reports true once in n calls on average.
func (d dice) rarely(n int) bool { return d.IntN(n) == 0 }

func (d dice) version() string { return d.one("1.0.0", "1.0.0-rc", "1.2.0", "2.0.0", "10.0.0") }

var letters = []string{"alpha", "beta", "gamma", "delta"}

// snapshot returns a random Snapshot of up to four modules.
func (d dice) snapshot() Snapshot {
	kyma := newKyma()
	kyma.UID = kymaUID
	kyma.Spec.Channel = d.one("regular", "regular", "regular", "fast", "none", "")
	if d.rarely(3) {
		kyma.Labels = map[string]string{v1beta2.LabelBeta: "true", "ring": "canary"}
	}
	if d.rarely(12) {
		kyma.DeletionTimestamp = noon.DeepCopy()
	}
	w := Snapshot{Kyma: kyma, Releases: map[string]*v1beta2.ModuleReleaseMeta{}, Templates: map[string]*v1beta2.ModuleTemplate{},
		Components: map[ComponentKey]Component{}, Rollouts: map[string]*v1beta2.ModuleRollout{}, Now: noon, Windows: d.windows()}
	kyma.Spec.SkipMaintenanceWindows = d.rarely(6)
	for _, name := range letters {
		d.release(&w, name)
		if !d.rarely(4) {
			kyma.Spec.Modules = append(kyma.Spec.Modules, d.module(name))
		}
		if d.rarely(2) {
			d.status(&w, name)
		}
		for !d.rarely(2) {
			d.manifest(&w, name)
		}
	}
	d.referTo(&w)
	d.consent(&w)
	return w
}

// consent may make entries and a policy ask for consent, some of which was given, and a version wait for it since an earlier pass.
func (d dice) consent(w *Snapshot) {
	if d.rarely(2) {
		return
	}
	if d.rarely(3) {
		w.Approvals = &ApprovalPolicy{Rules: []ApprovalRule{{
			Modules: []string{d.one("*", "alpha", "b*")}, When: []ApprovalTrigger{ApprovalTrigger(d.one("Always", "NewRights"))},
			By: []v1beta2.ConsentSide{v1beta2.ConsentSide(d.one("Hub", "Runtime"))}, FirstInstallation: d.rarely(2),
		}}}
	}
	w.RuntimeConsent, w.RuntimeUnread = map[string]EntryConsent{}, d.rarely(4)
	for i := range w.Kyma.Spec.Modules {
		entry := &w.Kyma.Spec.Modules[i]
		entry.UpgradeStrategy = v1beta2.UpgradeStrategy(d.one("", "Manual", "Automatic"))
		w.RuntimeConsent[entry.Name] = EntryConsent{Strategy: v1beta2.UpgradeStrategy(d.one("", "", "Manual"))}
	}
	needed := NeededChanges(*w)
	w.Changes = map[ChangeKey]Change{}
	for _, one := range needed {
		if !d.rarely(3) {
			w.Changes[one.ChangeKey] = Change{NewRights: d.rarely(2), Problem: d.one("", "", "ContentInvalid")}
		}
		for i := range w.Kyma.Spec.Modules {
			if entry := &w.Kyma.Spec.Modules[i]; entry.Name == one.Module && d.rarely(4) {
				entry.Approved = revision.Reference(one.Wanted.Spec.Version, one.To)
			}
		}
		for i := range w.Kyma.Status.Modules {
			if entry := &w.Kyma.Status.Modules[i]; entry.Name == one.Module && d.rarely(2) {
				at := metav1.NewTime(noon.Add(time.Duration(d.IntN(3)-1) * time.Hour))
				entry.Pending = &v1beta2.PendingVersion{Version: one.Wanted.Spec.Version, Digest: one.To, Deadline: &at, From: []v1beta2.ConsentSide{"Hub"}}
			}
		}
	}
}

// windows returns no policy, one whose window is open at noon, one whose window opens tomorrow, or one without windows.
func (d dice) windows() *WindowPolicy {
	clock := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	week := []time.Weekday{0, 1, 2, 3, 4, 5, 6}
	switch d.IntN(4) {
	case 0:
		return nil
	case 1:
		return &WindowPolicy{Default: []Window{{Days: week, Begin: clock(11), End: clock(14)}}}
	case 2:
		return &WindowPolicy{Default: []Window{{Days: week, Begin: clock(3), End: clock(4)}}}
	default:
		return &WindowPolicy{}
	}
}

func (d dice) module(name string) v1beta2.Module {
	spec := v1beta2.Module{Name: name, Channel: d.one("", "", "regular", "fast", "fast", "none", "rapid")}
	if d.rarely(5) {
		spec.Version = d.version()
		if !d.rarely(4) {
			spec.Channel = ""
		}
	}
	if d.rarely(6) {
		managed := d.rarely(3)
		spec.Managed = &managed
	}
	spec.CustomResourcePolicy = v1beta2.CustomResourcePolicy(d.one("", "CreateAndDelete", "Ignore"))
	if d.rarely(4) {
		spec.Values = rawJSON(d.one(`{"a":1}`, `{"a":2}`, `{"a":[],"b":null}`, `{}`))
	}
	return spec
}

// referTo may make entries take values from objects, some of which are missing or were not read.
func (d dice) referTo(w *Snapshot) {
	w.Values = map[v1beta2.ValuesReference]ReferredValues{}
	for i := range w.Kyma.Spec.Modules {
		if !d.rarely(6) {
			continue
		}
		w.Kyma.Spec.Modules[i].ValuesFrom = []v1beta2.ValuesReference{inSecret}
		switch d.IntN(4) {
		case 0:
			w.Values[inSecret] = ReferredValues{Problem: "there is none"}
		case 1, 2:
			w.Values[inSecret] = ReferredValues{Hash: d.one("x", "y")}
		}
	}
}

// release adds the release of a module, its templates and components.
func (d dice) release(w *Snapshot, name string) {
	if d.rarely(8) {
		return
	}
	release := newRelease(name, "regular", d.version(), "fast", d.version())
	if d.rarely(10) {
		release.Spec.OCMComponentName = d.one("", componentOfModule("renamed"))
	}
	if d.rarely(12) {
		release.Spec.Mandatory = &v1beta2.Mandatory{Version: d.version()}
		release.Spec.Channels = nil
		if d.rarely(3) {
			release.DeletionTimestamp = noon.DeepCopy()
		}
		w.Mandatory = append(w.Mandatory, release)
	}
	if d.rarely(12) {
		release.Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{v1beta2.LabelBeta: "true"}}
		w.Restricted = []string{name}
	}
	w.Releases[name] = release
	d.rollsOut(w, release)
	for _, version := range []string{"1.0.0", "1.0.0-rc", "1.2.0", "2.0.0", "10.0.0"} {
		if d.rarely(8) {
			continue
		}
		template := newTemplate(name, version)
		template.Spec.RequiresDowntime = d.rarely(3)
		template.Spec.Readiness = v1beta2.Readiness(d.one("", "Workloads", "ModuleCR", "Both"))
		if d.rarely(8) {
			template.Labels = map[string]string{d.one(v1beta2.LabelBeta, v1beta2.LabelInternal, v1beta2.LabelControllerName): "true"}
		}
		if d.rarely(8) {
			template.Spec.Data, template.Spec.Manager = nil, nil
		}
		w.Templates[template.Name] = template
		if !d.rarely(5) {
			w.Components[ComponentKey{componentOfModule(name), version}] = d.component(version)
		}
	}
}

func (d dice) component(version string) Component {
	if d.rarely(6) {
		return Component{Reason: d.one("ComponentNotFound", "ComponentInvalid", "RegistryUnreachable", "RegistryUnauthorized", "SignatureInvalid"), Message: "no"}
	}
	return newComponent(version)
}

// status adds a status entry from an earlier pass.
func (d dice) status(w *Snapshot, name string) {
	w.Kyma.Status.Modules = append(w.Kyma.Status.Modules, v1beta2.ModuleStatus{
		Name: name, OCMComponentName: componentOfModule(name), Channel: d.one("", "regular", "fast"),
		Version: d.one("", d.version(), d.version(), d.version()),
		State:   v1beta2.State(d.one("Ready", "Ready", "Processing", "Error", "Warning", "Deleting", "Unmanaged")),
	})
}

// manifest adds a Manifest of any version that may be edited, being deleted, or another owner's.
func (d dice) manifest(w *Snapshot, name string) {
	version := d.version()
	template := newTemplate(name, version)
	m := stored(wanted(w.Kyma, &Verdict{Module: name, Channel: d.one("", "regular", "fast"), Version: version,
		ComponentName: componentOfModule(name), Template: template, Source: newSource(version)}), nil)
	for i := range w.Manifests {
		if w.Manifests[i].Name == m.Name {
			m.Name = fmt.Sprintf("%s-%d", m.Name, len(w.Manifests))
			m.UID += "x"
		}
	}
	reporting(m, v1beta2.State(d.one("", "Ready", "Ready", "Processing", "Error", "Warning", "Deleting")), "ObjectFailed", "because")
	m.Status.ResourceState = v1beta2.State(d.one("", "Ready", "Warning", "Error", "Processing"))
	if d.rarely(5) {
		d.edit(m)
	}
	if d.rarely(6) {
		dying(m)
	}
	w.Manifests = append(w.Manifests, *m)
}

// edit makes a random edit as a user would by hand.
func (d dice) edit(m *v1beta2.Manifest) {
	switch d.IntN(9) {
	case 8:
		m.Spec.KymaValues = &v1beta2.EntryValues{From: []v1beta2.HashedValues{{ValuesReference: inSecret, Hash: "x"}}, Inline: `{"z":1}`}
	case 7:
		m.Labels[v1beta2.LabelMandatoryModule] = "true"
	case 0:
		m.Generation++
	case 1:
		m.Spec.Version = "9.9.9"
	case 2:
		m.OwnerReferences = nil
	case 3:
		m.Labels = map[string]string{v1beta2.LabelModuleName: "other"}
	case 4:
		m.Annotations = map[string]string{v1beta2.AnnotationIsUnmanaged: "true"}
	case 5:
		m.OwnerReferences[0].UID = "other"
	case 6:
		m.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`)
	}
}

// rollsOut may mark a release and add its rollout, which may be missing or another one than the mark names.
func (d dice) rollsOut(w *Snapshot, release *v1beta2.ModuleReleaseMeta) {
	if d.rarely(2) {
		return
	}
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: rolloutUID}
	var channels []v1beta2.RolloutChannel
	for _, channel := range release.Spec.Channels {
		channels = append(channels, d.rolloutChannel(channel.Channel, d.version(), d.one(channel.Version, channel.Version, d.version())))
	}
	if release.Spec.Mandatory != nil {
		channels = append(channels, d.rolloutChannel("", d.version(), release.Spec.Mandatory.Version))
	}
	its := newRollout(release.Name, channels...)
	if d.rarely(10) {
		its.UID = "another"
	}
	if !d.rarely(10) {
		w.Rollouts[release.Name] = its
	}
}

// rolloutChannel returns a rollout in any state.
func (d dice) rolloutChannel(name, from, to string) v1beta2.RolloutChannel {
	channel := rolloutOf(name, from, to)
	channel.Phase = v1beta2.RolloutPhase(d.one("Progressing", "Progressing", "Progressing", "Waiting", "Halted", "RollingBack", "RolledBack",
		"Aborted", "Completed"))
	if channel.Wave = d.one("canary", "rest"); channel.Wave == "rest" {
		channel.Waves[1].Since = noon
	}
	if channel.Open = d.rarely(3); channel.Phase == v1beta2.RolloutCompleted {
		channel.Wave = ""
	}
	if d.rarely(3) {
		underway(&channel)
	}
	if d.rarely(6) {
		channel.From.Version = ""
	}
	return channel
}
