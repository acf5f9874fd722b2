package modulestatus

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// want are the expectations of a case for the module beacon; empty fields are not checked.
type want struct {
	state   State
	phase   Phase
	reason  string
	module  State
	modules string // reason of the module's state
	message string // part of the message of the installation
	version string // installed/desired/available
	typ     Type
}

func check(t *testing.T, in Inputs, w want) Module {
	t.Helper()
	modules := Modules(in)
	if len(modules) != 1 {
		t.Fatalf("there are %d modules, want one: %+v", len(modules), modules)
	}
	m := modules[0]
	version := m.Version.Installed + "/" + m.Version.Desired + "/" + m.Version.Available
	for _, c := range []struct{ what, is, want string }{
		{"state", string(m.State), string(w.state)},
		{"installation", string(m.Installation.State), string(w.phase)},
		{"reason", m.Installation.Reason, w.reason},
		{"module", string(m.Module.State), string(w.module)},
		{"module's reason", m.Module.Reason, w.modules},
		{"version", version, w.version},
		{"type", string(m.Type), string(w.typ)},
	} {
		if c.want != "" && c.is != c.want {
			t.Errorf("%s is %q, want %q (%+v)", c.what, c.is, c.want, m)
		}
	}
	if !strings.Contains(m.Installation.Message, w.message) {
		t.Errorf("message is %q, want %q in it", m.Installation.Message, w.message)
	}
	return m
}

func conditioned(state v1beta2.State, reason, message string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		m.Status.State = state
		m.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionReady, Status: "False", Reason: reason, Message: message}}
	}
}

// illManifest returns a change to a Manifest that was installed and has an object that is no longer ready.
func illManifest(state v1beta2.State, reason string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		conditioned(state, reason, "Deployment x has 0 of 1 replicas")(m)
		m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{
			Type: v1beta2.ConditionInstallation, Status: metav1.ConditionTrue, ObservedGeneration: 1,
		})
	}
}

func deletedManifest(m *v1beta2.Manifest) { m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

func TestManagedModules(t *testing.T) {
	unmanaged := func(k *v1beta2.Kyma) { no := false; k.Spec.Modules[0].Managed = &no }
	for name, c := range map[string]struct {
		kyma      v1beta2.Kyma
		manifests []v1beta2.Manifest
		want      want
	}{
		"a module that is ready in the requested version is installed": {
			remoteKyma(), []v1beta2.Manifest{manifest()},
			want{state: Ready, phase: Installed, version: "1.0.0/1.0.0/1.0.0", typ: Managed},
		},
		"a channel that has moved on makes it upgrading although the status still says Ready": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" }), []v1beta2.Manifest{manifest()},
			want{state: Processing, phase: Upgrading, reason: v1beta2.ReasonPending, version: "1.0.0/1.1.0/1.1.0"},
		},
		"a Kyma whose last change was not reconciled is upgrading": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Generation = 2 }), nil,
			want{state: Processing, phase: Upgrading, message: "not reconciled the last change"},
		},
		"a module that was not reconciled is being installed": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Status.Modules = nil }), nil,
			want{state: Processing, phase: Installing, reason: v1beta2.ReasonPending},
		},
		"a refusal that keeps the version is a warning with its reason": {
			remoteKyma(stands(v1beta2.StateWarning, "1.1.0", "module template update not allowed: ignore channel skew "+
				"(from fast to regular), as a higher version (1.1.0) of the module was previously installed")), nil,
			want{state: Warning, phase: Installed, reason: v1beta2.ReasonDowngrade, version: "1.1.0/1.0.0/1.0.0"},
		},
		"a module without an offer is not installed, and that is a warning": {
			remoteKyma(stands(v1beta2.StateWarning, "", `no ModuleReleaseMeta found for module "beacon" in namespace "kcp-system"`)), nil,
			want{state: Warning, phase: NotInstalled, reason: v1beta2.ReasonReleaseNotFound},
		},
		"an invalid signature is an error": {
			remoteKyma(stands(v1beta2.StateError, "1.0.0", "the signature does not match component x:1.0.0: digest")), nil,
			want{state: Error, phase: Failed, reason: v1beta2.ReasonSignatureInvalid},
		},
		"an error of the Manifest has the reason of the Manifest": {
			remoteKyma(stands(v1beta2.StateError, "1.0.0", "Deployment x was refused")),
			[]v1beta2.Manifest{manifest(conditioned(v1beta2.StateError, v1beta2.ReasonQuotaExceeded, "Deployment x was refused"))},
			want{state: Error, phase: Failed, reason: v1beta2.ReasonQuotaExceeded},
		},
		"an error of unknown cause has the general reason": {
			remoteKyma(stands(v1beta2.StateError, "1.0.0", "oh")), nil, want{phase: Failed, reason: v1beta2.ReasonModuleError},
		},
		"a warning of unknown cause has the general reason": {
			remoteKyma(stands(v1beta2.StateWarning, "1.0.0", "oh")), nil, want{phase: Installed, reason: v1beta2.ReasonModuleWarning},
		},
		"the first installation has a progress": {
			remoteKyma(stands(v1beta2.StateProcessing, "1.0.0", "")), []v1beta2.Manifest{manifest(func(m *v1beta2.Manifest) {
				m.Status.State = v1beta2.StateProcessing
				m.Status.Synced = []v1beta2.Resource{{Kind: "A", Hash: "x"}, {Kind: "B"}}
			})},
			want{state: Processing, phase: Installing, reason: v1beta2.ReasonModuleProcessing, version: "/1.0.0/1.0.0"},
		},
		"an installed module that is no longer ready is not being installed": {
			remoteKyma(stands(v1beta2.StateProcessing, "1.0.0", "Deployment x has 0 of 1 replicas")),
			[]v1beta2.Manifest{manifest(illManifest(v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects))},
			want{state: Processing, phase: Installed, reason: v1beta2.ReasonWaitingForObjects, version: "1.0.0/1.0.0/1.0.0"},
		},
		"an installed module whose own resource is not ready is not being installed": {
			remoteKyma(stands(v1beta2.StateProcessing, "1.0.0", "")), []v1beta2.Manifest{manifest()},
			want{state: Processing, phase: Installed, version: "1.0.0/1.0.0/1.0.0"},
		},
		"an installed module that fails keeps its version": {
			remoteKyma(stands(v1beta2.StateError, "1.0.0", "Deployment x has 0 of 1 replicas")),
			[]v1beta2.Manifest{manifest(illManifest(v1beta2.StateError, v1beta2.ReasonObjectFailed))},
			want{state: Error, phase: Failed, reason: v1beta2.ReasonObjectFailed, version: "1.0.0/1.0.0/1.0.0"},
		},
		"a module that is not ready and has another requested version is being upgraded": {
			remoteKyma(stands(v1beta2.StateProcessing, "1.0.0", ""), func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" }),
			[]v1beta2.Manifest{manifest(illManifest(v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects))},
			want{state: Processing, phase: Upgrading, version: "1.0.0/1.1.0/1.1.0"},
		},
		"a module with a changed Manifest is being upgraded": {
			remoteKyma(stands(v1beta2.StateProcessing, "1.0.0", "")), []v1beta2.Manifest{manifest(func(m *v1beta2.Manifest) { m.Generation = 2 })},
			want{state: Processing, phase: Upgrading},
		},
		"a module that is no longer requested is being deleted": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Modules = nil }), []v1beta2.Manifest{manifest()},
			want{state: Deleting, phase: Removing, reason: v1beta2.ReasonModuleDeleting},
		},
		"a blocked deletion names the objects that block it": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Modules = nil }),
			[]v1beta2.Manifest{manifest(deletedManifest, conditioned(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "Beacon a/b exists"))},
			want{state: Deleting, phase: Removing, reason: v1beta2.ReasonDeletionBlocked, message: "Beacon a/b exists"},
		},
		"a deletion that waits for the modules that need it names them": {
			remoteKyma(stands(v1beta2.StateWarning, "1.0.0", "the module is not removed: module notes needs it"),
				func(k *v1beta2.Kyma) { k.Spec.Modules = nil }),
			[]v1beta2.Manifest{manifest()},
			want{state: Warning, phase: Removing, reason: v1beta2.ReasonStillRequired, message: "module notes needs it"},
		},
		"a deletion that fails is a warning with the reason of the Manifest": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Modules = nil }),
			[]v1beta2.Manifest{manifest(deletedManifest, conditioned(v1beta2.StateError, v1beta2.ReasonRuntimeUnreachable, "no answer"))},
			want{state: Warning, phase: Removing, reason: v1beta2.ReasonRuntimeUnreachable},
		},
		"a deletion without details is in progress": {
			remoteKyma(stands(v1beta2.StateDeleting, "1.0.0", "the module is being removed")), []v1beta2.Manifest{manifest(deletedManifest)},
			want{state: Deleting, phase: Removing, message: "the module is being removed"},
		},
		"the status Deleting is adopted": {
			remoteKyma(stands(v1beta2.StateDeleting, "1.0.0", "bye")), nil, want{phase: Removing, message: "bye"},
		},
		"an unmanaged module keeps running": {
			remoteKyma(unmanaged, stands(v1beta2.StateUnmanaged, "1.0.0", "")), nil,
			want{state: Unmanaged, phase: LetGo, reason: v1beta2.ReasonUnmanaged, message: "keep running unmanaged"},
		},
		"an unmanaged module whose Manifest still exists is being released": {
			remoteKyma(unmanaged), []v1beta2.Manifest{manifest()}, want{phase: LetGo, message: "being released"},
		},
		"a module that is managed again is being installed": {
			remoteKyma(stands(v1beta2.StateUnmanaged, "1.0.0", "")), nil, want{phase: Installing},
		},
		"a pinned version is requested, and that of the channel is available": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Channel = "fast"; k.Spec.Modules[0].Version = "1.0.0" }), []v1beta2.Manifest{manifest()},
			want{phase: Installed, version: "1.0.0/1.0.0/1.1.0"},
		},
		"without a release the requested version is that of the status": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Channel = "slow" }), []v1beta2.Manifest{manifest()},
			want{phase: Installed, version: "1.0.0/1.0.0/"},
		},
		"an upgrade that waits for its window is no problem": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Channel = "fast"; k.Status.Modules[0].Maintenance = true }),
			[]v1beta2.Manifest{manifest()}, want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0"},
		},
		"an upgrade that waits for its rollout is no problem": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Channel = "fast"; k.Status.Modules[0].Offered = "1.1.0" }),
			[]v1beta2.Manifest{manifest()}, want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0"},
		},
		"an upgrade that waits for consent is no problem": {
			remoteKyma(func(k *v1beta2.Kyma) {
				k.Spec.Channel, k.Status.Modules[0].Pending = "fast", &v1beta2.PendingVersion{Version: "1.1.0", From: []v1beta2.ConsentSide{v1beta2.ConsentHub}}
			}),
			[]v1beta2.Manifest{manifest()}, want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0"},
		},
		"an upgrade that waits for a requirement is not under way": {
			remoteKyma(func(k *v1beta2.Kyma) {
				k.Spec.Channel, k.Status.Modules[0].Message = "fast", "version 1.1.0 needs module istio"
			}),
			[]v1beta2.Manifest{manifest()},
			want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0", reason: v1beta2.ReasonRequirementMissing},
		},
		"a version whose rollout was aborted is no upgrade under way": {
			remoteKyma(func(k *v1beta2.Kyma) { k.Status.Modules[0].Version = "1.1.0" }),
			[]v1beta2.Manifest{manifest(func(m *v1beta2.Manifest) { m.Spec.Version, m.Status.InstalledVersion = "1.1.0", "1.1.0" })},
			want{state: Ready, phase: Installed, version: "1.1.0/1.0.0/1.0.0"},
		},
		"the request of the runtime's user counts on the hub": {
			remoteKyma(func(k *v1beta2.Kyma) {
				seen := v1beta2.SeenSpec{Channel: "regular", Modules: []v1beta2.SeenModule{{Name: "beacon"}}}
				k.Status.LastSeen = &v1beta2.LastSeen{Hub: &v1beta2.SeenSpec{Channel: "regular"}, Runtime: &seen}
				k.Spec.Modules = nil
			}), []v1beta2.Manifest{manifest()}, want{state: Ready, phase: Installed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen([]v1beta2.Kyma{c.kyma})
			in.Manifests = c.manifests
			check(t, in, c.want)
		})
	}
}

func TestMandatoryAndLoneManifests(t *testing.T) {
	mandatory := func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelMandatoryModule] = v1beta2.EnabledValue }
	lone := func(m *v1beta2.Manifest) { m.Labels = nil }
	for name, c := range map[string]struct {
		manifest v1beta2.Manifest
		kyma     bool
		unread   bool
		want     want
	}{
		"a mandatory module has the state of its Manifest": {
			manifest(mandatory), true, false, want{state: Ready, phase: Installed, version: "1.0.0/1.2.0/1.2.0"},
		},
		"a mandatory module that fails has failed": {
			manifest(mandatory, conditioned(v1beta2.StateError, "X", "broken")), true, false, want{state: Error, phase: Failed, reason: "X"},
		},
		"a stand-alone Manifest is a module": {manifest(lone), false, false, want{state: Ready, phase: Installed, typ: Community}},
		"a stand-alone Manifest with a warning": {
			manifest(lone, conditioned(v1beta2.StateWarning, "X", "hm")), false, false, want{state: Warning, phase: Installed},
		},
		"a stand-alone Manifest that was not reconciled": {
			manifest(lone, func(m *v1beta2.Manifest) { m.Generation = 2 }), false, false, want{phase: Upgrading, reason: v1beta2.ReasonManifestPending},
		},
		"a stand-alone Manifest in progress": {
			manifest(lone, func(m *v1beta2.Manifest) { m.Status.State = v1beta2.StateProcessing }), false, false, want{phase: Installing},
		},
		"a stand-alone Manifest with an object that is no longer ready": {
			manifest(lone, illManifest(v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects)), false, false,
			want{state: Processing, phase: Installed, reason: v1beta2.ReasonWaitingForObjects},
		},
		"a stand-alone Manifest that is being deleted": {manifest(lone, deletedManifest), false, false, want{phase: Removing}},
		"a Manifest without its Kyma is orphaned": {
			manifest(), false, false, want{state: Warning, phase: Orphaned, reason: WhyKymaGone, typ: Managed},
		},
		"a Manifest whose Kyma cannot be read is not": {manifest(), false, true, want{state: Ready, phase: Installed}},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Manifests: []v1beta2.Manifest{c.manifest}}
			if c.kyma {
				decree := release("beacon")
				decree.Spec.Mandatory = &v1beta2.Mandatory{Version: "1.2.0"}
				in.Releases = []v1beta2.ModuleReleaseMeta{decree}
				in.Kymas = []v1beta2.Kyma{remoteKyma(func(k *v1beta2.Kyma) { k.Spec.Modules, k.Status.Modules = nil, nil })}
			}
			if c.unread {
				in.Unread = []Unread{{GroupKind: ownKind(kindKyma)}}
			}
			check(t, in, c.want)
		})
	}
}

func TestCustomResources(t *testing.T) {
	forbidden := Unread{GroupKind: beacons, Forbidden: true, Text: "beacons is forbidden"}
	deleted := custom("Beacon", "default", "")
	deleted.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	for name, c := range map[string]struct {
		objects []*unstructured.Unstructured
		change  func(*Inputs)
		want    want
	}{
		"the worst of two wins": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "Ready"), custom("Beacon", "b", "Error")}, nil, want{state: Error, module: Error},
		},
		"a warning is worse than a deletion": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "Warning"), custom("Beacon", "b", "Deleting")}, nil,
			want{state: Warning, module: Warning},
		},
		"none is not configured, and no problem": {nil, nil, want{state: Ready, module: NotConfigured, modules: WhyNoResource}},
		"forbidden is never none": {
			nil, func(in *Inputs) { in.Unread, in.Looked = []Unread{forbidden}, nil }, want{state: Unknown, module: Unknown, modules: WhyForbidden},
		},
		"a failed read is unknown": {
			nil, func(in *Inputs) { in.Unread = []Unread{{GroupKind: beacons}} }, want{module: Unknown, modules: WhyReadFailed},
		},
		"a kind that was not listed is unknown": {nil, func(in *Inputs) { in.Looked = nil }, want{module: Unknown, modules: WhyNotObserved}},
		"a kind that was not listed has the state in the Kyma": {nil, func(in *Inputs) {
			in.Looked, in.Kymas[0].Status.Modules[0].ResourceState = nil, v1beta2.StateWarning
		}, want{state: Warning, module: Warning}},
		"one without a state is processing": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "")}, nil, want{state: Processing, module: Processing, modules: WhyNoState},
		},
		"one that is being deleted without a state is deleting": {[]*unstructured.Unstructured{deleted}, nil, want{module: Deleting}},
		"an unknown state is kept as the reason": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "Dreaming")}, nil, want{module: Processing, modules: "Dreaming"},
		},
		"a check of the template maps the state": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "Fine")}, func(in *Inputs) {
				in.Templates[0].Spec.CustomStateCheck = []v1beta2.CustomStateCheck{{JSONPath: "status.state", Value: "Fine", MappedState: "Ready"}}
			}, want{state: Ready, module: Ready},
		},
		"without a matching check it is processing": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "Ready")}, func(in *Inputs) {
				in.Templates[0].Spec.CustomStateCheck = []v1beta2.CustomStateCheck{{JSONPath: "status.state", Value: "Fine", MappedState: "Ready"}}
			}, want{module: Processing},
		},
		"a module without a resource of its own is not configured": {
			nil, func(in *Inputs) { in.Templates[0].Spec.Data = nil }, want{state: Ready, module: NotConfigured, modules: WhyNoKind},
		},
		"without the template the resource is unknown": {
			nil, func(in *Inputs) { in.Templates = nil }, want{module: Unknown, modules: WhyTemplateGone},
		},
		"the status names the resource without the template": {
			[]*unstructured.Unstructured{custom("Beacon", "a", "Ready")}, func(in *Inputs) {
				in.Templates = nil
				in.Kymas[0].Status.Modules[0].Resource = &v1beta2.TrackingObject{
					TypeMeta: metav1.TypeMeta{APIVersion: "sample.kyma-project.io/v1", Kind: "Beacon"},
				}
			}, want{module: Ready},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen([]v1beta2.Kyma{remoteKyma(local)}, c.objects...)
			if c.change != nil {
				c.change(&in)
			}
			check(t, in, c.want)
		})
	}
}

func TestVersionsWithoutManifest(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Inputs)
		want   string
	}{
		"the version in the status of the Kyma":        {func(*Inputs) {}, "1.0.0/1.0.0/1.0.0"},
		"the version of a settled Manifest":            {func(in *Inputs) { in.Manifests = []v1beta2.Manifest{manifest()} }, "1.0.0/1.0.0/1.0.0"},
		"the version of the operator during a change":  {func(in *Inputs) { stands(v1beta2.StateProcessing, "1.0.0", "")(&in.Kymas[0]) }, "0.9.0/1.0.0/1.0.0"},
		"with a Manifest and no template, too":         {func(in *Inputs) { underWay(in); in.Templates = nil }, "0.9.0/1.0.0/1.0.0"},
		"unknown without a manager":                    {func(in *Inputs) { underWay(in); in.Manifests[0].Spec.Manager = nil; in.Templates = nil }, "/1.0.0/1.0.0"},
		"unknown without a manager in the template":    {func(in *Inputs) { underWay(in); in.Templates[0].Spec.Manager = nil }, "/1.0.0/1.0.0"},
		"a module that is not requested has no policy": {func(in *Inputs) { in.Kymas[0].Spec.Modules = nil }, "1.0.0//"},
		"the Manifest has the policy during a removal": {func(in *Inputs) { underWay(in); in.Kymas[0].Spec.Modules = nil }, "0.9.0//"},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen([]v1beta2.Kyma{remoteKyma(local)}, deployment("x:0.9.0"))
			c.change(&in)
			check(t, in, want{version: c.want})
		})
	}
}

func underWay(in *Inputs) {
	in.Manifests = []v1beta2.Manifest{manifest(func(m *v1beta2.Manifest) { m.Status.State = v1beta2.StateProcessing })}
	stands(v1beta2.StateProcessing, "1.0.0", "")(&in.Kymas[0])
}
