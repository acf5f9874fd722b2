package directinstall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

func TestInstall_AModuleLivesOnAPlainCluster(t *testing.T) {
	f := onCluster(t)
	first := definition("plain") + deployment("plain-manager", "example.com/plain:0.1.0") + configMap("plain-a", "1") + configMap("plain-old", "1")
	plan := withCR(f.plan("plain", "0.1.0", first), "color: red")

	dry := plan
	dry.DryRun = true
	var report directinstall.Report
	if n := f.writes(func(config *rest.Config) {
		var err error
		dry.Config = config
		report, err = directinstall.Install(t.Context(), dry)
		f.must(err)
	}); n != 0 || len(report.Differences) < 5 || f.listed("plain") != nil {
		t.Fatalf("a dry run writes %d times and tells %d differences", n, len(report.Differences))
	}

	report = f.installs(plan)
	if report.Type != modulestatus.Community || report.Previous != "" || !report.Changed || !strings.Contains(f.listed("plain").Source, "@sha256:") {
		t.Errorf("%+v\n%+v", report, f.listed("plain"))
	}
	if listed := f.listed("plain"); !listed.Complete || listed.Version != "0.1.0" || len(listed.Inventory) != 4 || listed.Resource.Kind != "Sample" {
		t.Errorf("listed as %+v", listed)
	}
	if n := f.writes(func(config *rest.Config) { plan.Config = config; report = f.installs(plan) }); n != 0 || report.Changed {
		t.Errorf("the same again writes %d times", n)
	}

	f.patch(f.sample("plain", "default"), "spec: {color: green}")
	second := definition("plain") + deployment("plain-manager", "example.com/plain:0.2.0") + configMap("plain-a", "2")
	next := withCR(f.plan("plain", "0.2.0", second), "color: blue")
	report, err := directinstall.Upgrade(t.Context(), next)
	f.must(err)
	if report.Previous != "0.1.0" || !report.Ready || f.configMap("plain-old") != nil {
		t.Errorf("what the new version dropped is still there, or %+v", report)
	}
	if color := f.sample("plain", "default").Object["spec"].(map[string]any)["color"]; color != "green" {
		t.Errorf("the upgrade made the user's color %v", color)
	}
	report, err = directinstall.Install(t.Context(), plan)
	f.reason(report, err, directinstall.ReasonDowngrade, "0.2.0")

	f.web.Close() // every source is offline
	f.deletes(f.removal("plain"))
	for _, gone := range []any{
		f.configMap("plain-a"), f.find("apps/v1", "Deployment", system, "plain-manager"), f.listed("plain"),
		f.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "samples.plain.example.com"),
	} {
		if fmt.Sprint(gone) != "<nil>" {
			t.Errorf("still there: %v", gone)
		}
	}
	if report := f.deletes(f.removal("plain")); report.Reason != directinstall.ReasonNotInstalled || report.Changed {
		t.Errorf("a second deletion: %+v", report)
	}
}

func TestInstall_AnInterruptedCallConvergesWhenItIsRepeated(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"killed before a write arrives": false, "killed before its answer arrives": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := onCluster(t)
			for at, alive := int32(1), false; !alive; at++ {
				module := fmt.Sprintf("cut-%d", at)
				if after {
					module = fmt.Sprintf("cut-after-%d", at)
				}
				alive = f.interrupted(module, at, after)
				if at > 40 {
					t.Fatal("no end of writes")
				}
			}
		})
	}
}

// interrupted takes a module through its life cycle; each call is killed at a write and repeated. alive reports that no call had that many
// writes.
func (f *fixture) interrupted(module string, at int32, after bool) (alive bool) {
	f.Helper()
	alive = true
	twice := func(what string, do func(context.Context, *rest.Config) (directinstall.Report, error)) {
		f.Helper()
		ctx, kill := context.WithCancel(f.Context())
		defer kill()
		process := &mortal{at: at, after: after, end: kill}
		_, err := do(ctx, process.config(f.config))
		alive = alive && !process.dead()
		if process.dead() == (err == nil) && !after {
			f.Errorf("%s %s: killed at write %d, and it says %v", what, module, at, err)
		}
		report, err := do(f.Context(), f.config)
		if err != nil || !report.Ready {
			f.Fatalf("%s %s, killed at write %d (after: %v) and repeated: %v\n%+v", what, module, at, after, err, report)
		}
	}
	first := definition(module) + configMap(module+"-a", "1") + configMap(module+"-old", "1")
	plan := withCR(f.plan(module, "0.1.0", first), "color: red")
	twice("install", func(ctx context.Context, config *rest.Config) (directinstall.Report, error) {
		plan.Config = config
		return directinstall.Install(ctx, plan)
	})
	if f.sample(module, "default") == nil || f.configMap(module+"-old") == nil || !f.listed(module).Complete {
		f.Errorf("install %s, killed at write %d: something is missing: %+v", module, at, f.listed(module))
	}
	f.patch(f.sample(module, "default"), "spec: {color: green}")
	plan = withCR(f.plan(module, "0.2.0", definition(module)+configMap(module+"-a", "2")+configMap(module+"-new", "2")), "color: blue")
	twice("upgrade", func(ctx context.Context, config *rest.Config) (directinstall.Report, error) {
		plan.Config = config
		return directinstall.Upgrade(ctx, plan)
	})
	if f.configMap(module+"-old") != nil || f.configMap(module+"-new") == nil || !f.listed(module).Complete || f.listed(module).Version != "0.2.0" {
		f.Errorf("upgrade %s, killed at write %d: it did not come to its end: %+v", module, at, f.listed(module))
	}
	if color := f.sample(module, "default").Object["spec"].(map[string]any)["color"]; color != "green" {
		f.Errorf("upgrade %s, killed at write %d: the user's color became %v", module, at, color)
	}
	twice("delete", func(ctx context.Context, config *rest.Config) (directinstall.Report, error) {
		return directinstall.Delete(ctx, directinstall.Removal{Config: config, Module: module, Wait: patience})
	})
	if f.configMap(module+"-a") != nil || f.configMap(module+"-new") != nil || f.sample(module, "default") != nil || f.listed(module) != nil {
		f.Errorf("delete %s, killed at write %d: something is left", module, at)
	}
	return alive
}

func TestInstall_AFailedUpgradeLeavesWhatRuns(t *testing.T) {
	f := onCluster(t)
	first := f.plan("stays", "0.1.0", deployment("stays-manager", "example.com/stays:0.1.0")+configMap("stays-a", "1"))
	f.installs(first)
	uid := f.find("apps/v1", "Deployment", system, "stays-manager").GetUID()
	same := func() {
		t.Helper()
		if live := f.configMap("stays-a"); live.Object["data"].(map[string]any)["value"] != "1" {
			t.Errorf("a part of the refused version was applied: %v", live.Object["data"])
		}
		if live := f.find("apps/v1", "Deployment", system, "stays-manager"); live == nil || live.GetUID() != uid {
			t.Error("the Deployment of the old version is gone")
		}
		if listed := f.listed("stays"); listed.Version != "0.1.0" || !listed.Complete || listed.Trouble == "" {
			t.Errorf("listed as %+v", listed.DirectNote)
		}
	}

	t.Run("an object that the API server refuses: nothing is written", func(t *testing.T) {
		bad := "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: Not_A_Name, namespace: kyma-system}}\n"
		report, err := directinstall.Upgrade(t.Context(), f.plan("stays", "0.2.0", configMap("stays-a", "2")+bad))
		f.reason(report, err, directinstall.ReasonRefused, "Not_A_Name")
		same()
	})
	t.Run("a link that is dead", func(t *testing.T) {
		plan := f.plan("stays", "0.2.0", "")
		plan.Template.Spec.Resources[0].Link = f.web.URL + "/nowhere"
		if report, err := directinstall.Upgrade(t.Context(), plan); err == nil || report.Ready {
			t.Errorf("%+v", report)
		}
		same()
	})
	t.Run("other content under the same version", func(t *testing.T) {
		plan := f.plan("stays", "0.1.0", configMap("stays-a", "other"))
		report, err := directinstall.Install(t.Context(), plan)
		f.reason(report, err, directinstall.ReasonContentChanged, "sha256:")
		same()
	})
	t.Run("a manager that does not become ready: the old one is not pruned", func(t *testing.T) {
		never := strings.Replace(deployment("stays-next", "example.com/stays:0.2.0"), "spec: {containers",
			"spec: {nodeSelector: {no: such}, containers", 1)
		plan := f.plan("stays", "0.2.0", never+configMap("stays-a", "2"))
		plan.Wait = 3 * time.Second
		report, err := directinstall.Upgrade(t.Context(), plan)
		f.must(err)
		if report.Ready || f.find("apps/v1", "Deployment", system, "stays-manager") == nil {
			t.Errorf("the old manager is gone before the new one runs: %+v", report)
		}
		if listed := f.listed("stays"); listed.Complete || listed.Version != "0.2.0" || listed.Before != "0.1.0" {
			t.Errorf("listed as %+v", listed.DirectNote)
		}
	})
	t.Run("and back to the last complete version is no downgrade", func(t *testing.T) {
		first = f.plan("stays", "0.1.0", deployment("stays-manager", "example.com/stays:0.1.0")+configMap("stays-a", "1"))
		f.installs(first)
		if f.find("apps/v1", "Deployment", system, "stays-next") != nil || !f.listed("stays").Complete {
			t.Error("the version that failed is still there")
		}
	})
	f.deletes(f.removal("stays"))
}

func TestInstall_WhatModulesShareIsHandedOver(t *testing.T) {
	f := onCluster(t)
	shared := definition("shared") + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shared-space}}\n"
	f.installs(f.plan("one-a", "0.1.0", shared+configMap("one-a", "1")))
	second := f.installs(f.plan("one-b", "0.1.0", shared+configMap("one-b", "1")))
	if !slices.ContainsFunc(second.Objects, func(o installer.ObjectReport) bool {
		return o.Kind == "CustomResourceDefinition" && o.Action == apply.Shared
	}) {
		t.Errorf("the definition is not shared: %+v", second.Objects)
	}
	f.create(sample("shared", "kept", "color: red"))
	f.deletes(f.removal("one-a"))
	if f.sample("shared", "kept") == nil || f.find("v1", "Namespace", "", "shared-space").GetDeletionTimestamp() != nil || f.configMap("one-a") != nil {
		t.Error("what the other module still has went too, or what it has not is left")
	}
	report, err := directinstall.Delete(t.Context(), f.removal("one-b"))
	f.reason(report, err, directinstall.ReasonBlocked, "shared", "kept")
	f.must(f.other.Delete(t.Context(), f.sample("shared", "kept")))
	f.deletes(f.removal("one-b"))
	if f.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "samples.shared.example.com") != nil {
		t.Error("the last one left the definition")
	}
}
