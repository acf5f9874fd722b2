package modulestatus

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// refusedUpgrade changes a Manifest to one that runs 1.0.0 and whose upgrade to 1.1.0 is refused.
func refusedUpgrade(m *v1beta2.Manifest) {
	m.Generation, m.Status.ObservedGeneration = 2, 2
	m.Spec.Version, m.Status.InstalledVersion = "1.1.0", "1.0.0"
	conditioned(v1beta2.StateError, v1beta2.ReasonCRDChangeRefused, "FieldRemoved")(m)
}

func TestRunning_WhatRunsIsKnownWhileAnUpgradeIsRefused(t *testing.T) {
	fails := stands(v1beta2.StateError, "1.1.0", "FieldRemoved")
	fast := func(k *v1beta2.Kyma) {
		k.Spec.Channel = "fast"
		newer := v1beta2.PartialMeta{Namespace: "kcp-system", Name: "beacon-1.1.0"}
		k.Status.Modules[0].Template = &v1beta2.TrackingObject{PartialMeta: newer}
	}
	for name, c := range map[string]struct {
		kyma     v1beta2.Kyma
		manifest []v1beta2.Manifest
		image    string
		want     string
	}{
		"on a hub, by the Manifest":               {remoteKyma(fails, fast), []v1beta2.Manifest{manifest(refusedUpgrade)}, "", "1.0.0/1.1.0/1.1.0"},
		"in a runtime, by the status of the Kyma": {remoteKyma(fails, fast, ran("1.0.0")), nil, "", "1.0.0/1.1.0/1.1.0"},
		"where it runs, by its operator": {
			remoteKyma(fails, fast, local), []v1beta2.Manifest{manifest(refusedUpgrade)}, "b:0.9.0", "0.9.0/1.1.0/1.1.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen([]v1beta2.Kyma{c.kyma})
			in.Manifests = c.manifest
			if c.image != "" {
				in.Objects = append(in.Objects, deployment(c.image))
			}
			m := check(t, in, want{state: Error, phase: Failed, version: c.want})
			if !m.Version.Mismatch || m.TemplateVersion != "1.1.0" {
				t.Errorf("mismatch %v, and the template is that of %q", m.Version.Mismatch, m.TemplateVersion)
			}
		})
	}
}

// ran sets the previously installed version of beacon.
func ran(version string) func(*v1beta2.Kyma) {
	return func(k *v1beta2.Kyma) { k.Status.Modules[0].InstalledVersion = version }
}

func TestRunning_TheOperatorBesideTheRecord(t *testing.T) {
	managed := func(image string) Inputs {
		in := seen([]v1beta2.Kyma{remoteKyma(local)}, deployment(image))
		in.Manifests = []v1beta2.Manifest{manifest()}
		return in
	}
	byItself := func(image string) Inputs {
		in := seen(nil, deployment(image))
		in.Direct = []Direct{direct()}
		return in
	}
	for name, c := range map[string]struct {
		in      Inputs
		running string
	}{
		"a settled module whose operator was changed by hand": {managed("b:0.9.0"), "0.9.0"},
		"a settled module as it should be":                    {managed("b:v1.0.0"), ""},
		"a settled module whose operator has no version":      {managed("b:latest"), ""},
		"a direct module whose operator was changed by hand":  {byItself("b:0.9.0"), "0.9.0"},
		"a direct module as it should be":                     {byItself("b:1.0.0"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := check(t, c.in, want{version: "1.0.0/1.0.0/" + Modules(c.in)[0].Version.Available})
			if m.Version.Running != c.running {
				t.Errorf("running is %q, want %q", m.Version.Running, c.running)
			}
		})
	}
}
