package kymaedit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// kymaWith is a Kyma on channel regular with a catalog: notes (regular 1.0.0, fast 1.1.0, and 1.2.0 in no channel), istio (regular 2.0.0).
func kymaWith(edit func(s *KymaContext)) *KymaContext {
	remote := false
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Remote: &remote, Modules: []v1beta2.Module{{Name: "notes"}}},
	}
	s := &KymaContext{Kyma: kyma}
	s.offers("notes", []string{"regular", "1.0.0", "fast", "1.1.0"}, "1.0.0", "1.1.0", "1.2.0")
	s.offers("istio", []string{"regular", "2.0.0"}, "2.0.0")
	if edit != nil {
		edit(s)
	}
	s.Asked = modulestatus.Effective(kyma)
	s.Offers = Offers(s.Releases, s.Templates)
	return s
}

func (s *KymaContext) offers(name string, channels []string, versions ...string) {
	release := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name}}
	release.Spec.ModuleName, release.Spec.OCMComponentName = name, "example.com/"+name
	for i := 0; i < len(channels); i += 2 {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	s.Releases = append(s.Releases, release)
	for _, version := range versions {
		s.Templates = append(s.Templates, v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name + "-" + version},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: name, Version: version},
		})
	}
}

// titles returns what the buttons of a module say.
func (s *KymaContext) titles(reason string, edit func(m *modulestatus.Module), history ...v1beta2.Revision) string {
	m := &modulestatus.Module{Name: "notes", Kyma: "kcp-system/demo", State: modulestatus.Error}
	m.Installation = modulestatus.Installation{State: modulestatus.Failed, Reason: reason, Message: "because"}
	if edit != nil {
		edit(m)
	}
	var all []string
	for _, fix := range s.Fixes(m, history) {
		all = append(all, fix.Title)
	}
	return strings.Join(all, "; ")
}

func TestFixes_WhatHelpsForAReason(t *testing.T) {
	pending := &v1beta2.PendingVersion{Version: "1.1.0", Digest: "sha256:" + strings.Repeat("a", 64), From: []v1beta2.ConsentSide{v1beta2.ConsentHub}}
	installed := func(s *KymaContext, version string) {
		s.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", State: v1beta2.StateReady, Version: version, InstalledVersion: version}}
	}
	entry := func(channel, version string) func(s *KymaContext) {
		return func(s *KymaContext) {
			s.Kyma.Spec.Modules[0].Channel, s.Kyma.Spec.Modules[0].Version = channel, version
		}
	}
	for name, c := range map[string]struct {
		world  func(s *KymaContext)
		reason string
		module func(m *modulestatus.Module)
		want   string
	}{
		"an unknown channel is replaced by one that offers the module": {
			entry("nightly", ""), v1beta2.ReasonChannelNotFound, nil,
			"Follow the Kyma's channel regular (1.0.0); Follow channel fast (1.1.0)",
		},
		"a Kyma's channel that does not have it": {
			func(s *KymaContext) { s.Kyma.Spec.Channel = "nightly" }, v1beta2.ReasonChannelNotFound, nil,
			"Follow channel fast (1.1.0); Follow channel regular (1.0.0)",
		},
		"a version that there is not": {
			entry("", "9.9.9"), v1beta2.ReasonTemplateNotFound, nil,
			"Follow the Kyma's channel regular (1.0.0); Follow channel fast (1.1.0)",
		},
		"no channel has a template: versions that have one": {
			func(s *KymaContext) {
				s.Releases[0].Spec.Channels = nil
				entry("nightly", "")(s)
			}, v1beta2.ReasonChannelNotFound, nil, "Take version 1.2.0; Take version 1.1.0; Take version 1.0.0",
		},
		"a module that is not in the release follows a channel of its own": {
			func(s *KymaContext) { s.Kyma.Spec.Release = "spring" }, v1beta2.ReasonNotInRelease, nil,
			"Follow channel regular (1.0.0); Follow channel fast (1.1.0)",
		},
		"a lower version is refused: a channel that has no lower one, or what is installed": {
			func(s *KymaContext) { installed(s, "1.1.0") }, v1beta2.ReasonDowngrade, nil, "Follow channel fast (1.1.0); Stay at version 1.1.0",
		},
		"a beta version is not offered to a Kyma that sees none": {
			func(s *KymaContext) {
				s.Templates[0].Labels = map[string]string{v1beta2.LabelBeta: "true"}
			}, v1beta2.ReasonNotAllowed, nil, "Follow channel fast (1.1.0)",
		},
		"a module that no release has": {
			func(s *KymaContext) { s.Releases = nil }, v1beta2.ReasonReleaseNotFound, nil, "",
		},
		"a restricted module has no version for this Kyma": {
			func(s *KymaContext) {
				s.Releases[0].Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}
				entry("nightly", "")(s)
			}, v1beta2.ReasonChannelNotFound, nil, "",
		},
		"consent of this Kyma's user": {
			func(s *KymaContext) {
				s.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", State: v1beta2.StateReady, Version: "1.0.0", Pending: pending}}
			}, v1beta2.ReasonApprovalRequired, func(m *modulestatus.Module) { m.Pending = pending }, "Approve version 1.1.0",
		},
		"consent that only another user can give": {
			func(s *KymaContext) {
				other := *pending
				s.Kyma.Spec.Remote = nil
				other.From = []v1beta2.ConsentSide{v1beta2.ConsentRuntime}
				s.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", State: v1beta2.StateReady, Version: "1.0.0", Pending: &other}}
			}, v1beta2.ReasonApprovalRequired, func(m *modulestatus.Module) { m.Pending = pending }, "",
		},
		"what it requires is added": {
			func(s *KymaContext) {
				s.Templates[0].Spec.Requires = []v1beta2.Requirement{{Module: "istio"}}
			}, v1beta2.ReasonRequirementMissing, nil, "Add istio",
		},
		"what it requires is not offered in that range": {
			func(s *KymaContext) {
				s.Templates[0].Spec.Requires = []v1beta2.Requirement{{Module: "istio", Version: ">=3"}}
			}, v1beta2.ReasonRequirementMissing, nil, "",
		},
		"what it requires is nowhere": {
			func(s *KymaContext) {
				s.Templates[0].Spec.Requires = []v1beta2.Requirement{{Module: "nowhere"}}
			}, v1beta2.ReasonRequirementMissing, nil, "",
		},
		"a deletion that objects of users hold": {nil, v1beta2.ReasonDeletionBlocked, nil, "See what holds the deletion"},
		"a kubeconfig that is not accepted": {
			func(s *KymaContext) { s.Kyma.Spec.Remote = nil }, v1beta2.ReasonRuntimeUnauthorized, nil, "Connect it with a kubeconfig",
		},
		"a Kyma for this cluster needs no kubeconfig": {nil, v1beta2.ReasonRuntimeUnauthorized, nil, ""},
		"a cluster that does not answer":              {func(s *KymaContext) { s.Kyma.Spec.Remote = nil }, v1beta2.ReasonRuntimeUnreachable, nil, ""},
		"a suspended Kyma is resumed first": {
			func(s *KymaContext) {
				entry("nightly", "")(s)
				s.Kyma.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"}
			}, v1beta2.ReasonChannelNotFound, nil, "Resume the Kyma",
		},
		"a mandatory module": {
			entry("nightly", ""), v1beta2.ReasonChannelNotFound, func(m *modulestatus.Module) { m.Mandatory = true }, "",
		},
		"a module that is not managed": {
			func(s *KymaContext) {
				no := false
				entry("nightly", "")(s)
				s.Kyma.Spec.Modules[0].Managed = &no
			}, v1beta2.ReasonChannelNotFound, nil, "",
		},
		"content that does not verify": {nil, v1beta2.ReasonSignatureInvalid, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kymaWith(c.world).titles(c.reason, c.module); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFixes_WhatWentBackIsTriedAgain(t *testing.T) {
	s := kymaWith(nil)
	s.Kyma.Spec.Modules[0].Avoid = "1.0.0@sha256:" + strings.Repeat("a", 64)
	s.Asked = modulestatus.Effective(s.Kyma)
	if got := s.titles(v1beta2.ReasonRolledBack, nil); got != "Try it again" {
		t.Errorf("got %q", got)
	}
	if got := kymaWith(nil).titles(v1beta2.ReasonRolledBack, nil); got != "" {
		t.Errorf("where nothing is avoided: %q", got)
	}
}

// dice draws worlds in which channels, templates and labels are wrong in many ways.
type dice struct{ *rand.Rand }

func (d dice) one(of ...string) string { return of[d.IntN(len(of))] }

func (d dice) context() (*KymaContext, module.Snapshot) {
	remote := false
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo", UID: "1"}}
	kyma.Spec.Channel, kyma.Spec.Remote = d.one("regular", "fast", "none", "slow"), &remote
	if d.IntN(3) == 0 {
		kyma.Labels = map[string]string{v1beta2.LabelBeta: d.one("true", "TRUE")}
	}
	s := &KymaContext{Kyma: kyma}
	versions := []string{"1.0.0", "1.2.0", "2.0.0"}
	for _, name := range []string{"alpha", "gamma"} {
		var channels, templates []string
		for _, channel := range []string{"regular", "fast", "slow"} {
			if d.IntN(3) > 0 {
				channels = append(channels, channel, d.one(versions...))
			}
		}
		for _, version := range versions {
			if d.IntN(4) > 0 {
				templates = append(templates, version)
			}
		}
		s.offers(name, channels, templates...)
		release := &s.Releases[len(s.Releases)-1]
		if d.IntN(8) == 0 {
			release.Spec.OCMComponentName = ""
		}
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{
			Name: name, Channel: d.one("", "", "regular", "fast", "nightly", "none"), Version: d.one("", "", "", "1.0.0", "9.0.0"),
		})
	}
	for i := range s.Templates {
		switch d.IntN(8) {
		case 0:
			s.Templates[i].Labels = map[string]string{v1beta2.LabelBeta: "true"}
		case 1:
			s.Templates[i].Labels = map[string]string{v1beta2.LabelInternal: "true"}
		case 2:
			s.Templates[i].Spec.Mandatory = true
		}
	}
	return s, d.snapshot(s)
}

// snapshot is the same world as the lifecycle manager sees it, with something installed.
func (d dice) snapshot(s *KymaContext) module.Snapshot {
	w := module.Snapshot{
		Kyma: s.Kyma, Releases: map[string]*v1beta2.ModuleReleaseMeta{}, Templates: map[string]*v1beta2.ModuleTemplate{},
		Components: map[module.ComponentKey]module.Component{}, Now: metav1.Unix(1_800_000_000, 0),
	}
	for i := range s.Releases {
		w.Releases[s.Releases[i].Name] = &s.Releases[i]
	}
	for i := range s.Templates {
		w.Templates[s.Templates[i].Name] = &s.Templates[i]
	}
	for _, entry := range s.Kyma.Spec.Modules {
		if d.IntN(2) == 0 {
			continue
		}
		version := d.one("1.0.0", "1.2.0", "2.0.0")
		manifest := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo-" + entry.Name, Labels: map[string]string{
			v1beta2.LabelKymaName: "demo", v1beta2.LabelModuleName: entry.Name,
		}}}
		manifest.Spec.Version = version
		w.Manifests = append(w.Manifests, manifest)
		s.Kyma.Status.Modules = append(s.Kyma.Status.Modules, v1beta2.ModuleStatus{
			Name: entry.Name, State: v1beta2.StateWarning, Version: version, InstalledVersion: version,
		})
	}
	return w
}

// reasonOf returns why the lifecycle manager does not give a module what is asked for.
func reasonOf(w module.Snapshot, name string) string {
	verdicts := module.Resolve(w)
	at := slices.IndexFunc(verdicts, func(v module.Verdict) bool { return v.Module == name && !v.Mandatory })
	if at < 0 {
		return ""
	}
	return verdicts[at].Reason
}

// TestFixes_TheLifecycleManagerAcceptsEachOfThem: whatever is wrong, an offered channel or version is not refused for a reason of that sort.
func TestFixes_TheLifecycleManagerAcceptsEachOfThem(t *testing.T) {
	offered, silent := 0, 0
	for seed := range uint64(4000) {
		s, w := dice{rand.New(rand.NewPCG(seed, 6))}.context()
		s.Asked = modulestatus.Effective(s.Kyma)
		s.Offers = Offers(s.Releases, s.Templates)
		for _, entry := range s.Kyma.Spec.Modules {
			reason := reasonOf(w, entry.Name)
			if !slices.Contains(versionless, reason) {
				continue
			}
			m := &modulestatus.Module{Name: entry.Name, Installation: modulestatus.Installation{State: "Failed", Reason: reason, Message: "because"}}
			fixes := s.Fixes(m, nil)
			if len(fixes) == 0 {
				silent++
			}
			for _, fix := range fixes {
				offered++
				after := w
				after.Kyma = s.Kyma.DeepCopy()
				if fix.Channel == "" && fix.Version == "" {
					Follow(&after.Kyma.Spec, entry.Name)
				} else {
					Enable(&after.Kyma.Spec, ModuleRequest{Name: entry.Name, Channel: fix.Channel, Version: fix.Version})
				}
				if then := reasonOf(after, entry.Name); slices.Contains(versionless, then) || then == v1beta2.ReasonModuleMandatory ||
					then == v1beta2.ReasonComponentNameMissing {
					t.Fatalf("seed %d: %s: %q does not help: %s\n%+v", seed, reason, fix.Title, then, entry)
				}
			}
		}
	}
	if offered < 1000 || silent == 0 {
		t.Errorf("%d fixes were offered, and %d times none: the worlds show too little", offered, silent)
	}
}

// TestFixes_NoneIsMissing: where a channel of the release has a version that the lifecycle manager accepts, one is offered.
func TestFixes_NoneIsMissing(t *testing.T) {
	for seed := range uint64(2000) {
		s, w := dice{rand.New(rand.NewPCG(seed, 7))}.context()
		s.Asked = modulestatus.Effective(s.Kyma)
		s.Offers = Offers(s.Releases, s.Templates)
		for _, entry := range s.Kyma.Spec.Modules {
			reason := reasonOf(w, entry.Name)
			if !slices.Contains(versionless, reason) {
				continue
			}
			m := &modulestatus.Module{Name: entry.Name, Installation: modulestatus.Installation{State: "Failed", Reason: reason, Message: "because"}}
			offered := fmt.Sprint(s.Fixes(m, nil))
			for channel := range s.Offers[entry.Name].Channels {
				after := w
				after.Kyma = s.Kyma.DeepCopy()
				Enable(&after.Kyma.Spec, ModuleRequest{Name: entry.Name, Channel: channel})
				then := reasonOf(after, entry.Name)
				helps := then == v1beta2.ReasonComponentPending || then == ""
				if helps && channel != entry.Channel && !strings.Contains(offered, " "+channel+" (") {
					t.Fatalf("seed %d: %s: channel %s would help %+v, and is not offered: %s", seed, reason, channel, entry, offered)
				}
			}
		}
	}
}
