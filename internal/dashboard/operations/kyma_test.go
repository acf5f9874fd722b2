package operations

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestKyma_WhatIsAskedOfAKymaComesAbout(t *testing.T) {
	no := false
	type modules = []v1beta2.Module
	for name, c := range map[string]struct {
		have func(b *bench) modules
		deed func(b *bench) Request
		want string
		// diff is what the preview shows.
		diff []string
	}{
		"a module is added": {
			nil, func(b *bench) Request { return Request{Kind: Add, Modules: []Wanted{{Name: b.notes}}} },
			"notes", []string{"Update Kyma"},
		},
		"several modules are added, each in its way": {
			nil, func(b *bench) Request {
				return Request{Kind: Add, Modules: []Wanted{{Name: b.notes, Version: "1.2.0"}, {Name: b.beacon, Channel: "fast"}}}
			}, "notes@1.2.0 beacon:fast", []string{"Update Kyma"},
		},
		"an existing module is no change": {
			func(b *bench) modules { return modules{{Name: b.notes}} },
			func(b *bench) Request { return Request{Kind: Add, Modules: []Wanted{{Name: b.notes}}} }, "notes", []string{},
		},
		"a pinned module is upgraded to the newest version, and the preview shows how its template differs": {
			func(b *bench) modules { return modules{{Name: b.notes, Version: "1.0.0"}} },
			func(b *bench) Request { return Request{Kind: Upgrade, Items: []Item{{Module: b.notes}}} },
			"notes@1.2.0", []string{"Update Kyma", "Update Module"},
		},
		"a module that follows a channel stays with it": {
			func(b *bench) modules { return modules{{Name: b.notes}} },
			func(b *bench) Request { return Request{Kind: Upgrade, Items: []Item{{Module: b.notes}}} }, "notes", []string{},
		},
		"a module is taken out": {
			func(b *bench) modules { return modules{{Name: b.notes}, {Name: b.beacon, Channel: "fast"}} },
			func(b *bench) Request { return Request{Kind: Delete, Module: b.notes} }, "beacon:fast", []string{"Update Kyma"},
		},
		"a missing module need not be removed": {
			nil, func(b *bench) Request { return Request{Kind: Delete, Module: b.notes} }, "", []string{},
		},
		"a module is let go of": {
			func(b *bench) modules { return modules{{Name: b.notes}} },
			func(b *bench) Request { return Request{Kind: Unmanage, Module: b.notes} }, "notes unmanaged", []string{"Update Kyma"},
		},
		"a module is managed again": {
			func(b *bench) modules { return modules{{Name: b.notes, Managed: &no}} },
			func(b *bench) Request { return Request{Kind: Manage, Module: b.notes} }, "notes", []string{"Update Kyma"},
		},
		"the channel of a module": {
			func(b *bench) modules { return modules{{Name: b.notes}} },
			func(b *bench) Request { return Request{Kind: Channel, Module: b.notes, Channel: "fast"} }, "notes:fast", []string{"Update Kyma"},
		},
		"a module follows its Kyma again": {
			func(b *bench) modules { return modules{{Name: b.notes, Channel: "regular"}} },
			func(b *bench) Request { return Request{Kind: Channel, Module: b.notes} }, "notes", []string{"Update Kyma"},
		},
		"the channel of the Kyma": {
			func(b *bench) modules { return modules{{Name: b.beacon, Channel: "fast"}} },
			func(*bench) Request { return Request{Kind: Channel, Channel: "fast"} }, "beacon:fast", []string{"Update Kyma"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.manages()
			var have modules
			if c.have != nil {
				have = c.have(b)
			}
			kyma := b.kyma("demo", have...)
			b.awaitStatus(kyma)
			deed := c.deed(b)
			if deed.Kind == Upgrade {
				deed.Items[0].Kyma = kyma
			} else {
				deed.Kyma = kyma
			}
			before := b.read(kyma)
			preview := b.previews(b.admin(), deed)
			if diff := cmp.Diff(c.diff, changed(preview)); diff != "" || preview.Refused != "" {
				t.Errorf("the preview (-want +got):\n%s%s", diff, preview.Refused)
			}
			if after := b.read(kyma); after.ResourceVersion != before.ResourceVersion {
				t.Error("the preview wrote")
			}
			b.succeeds(b.admin(), deed)
			if diff := cmp.Diff(c.want, b.entries(kyma)); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
			b.succeeds(b.admin(), deed) // every request may be repeated
			if diff := cmp.Diff(c.want, b.entries(kyma)); diff != "" {
				t.Errorf("modules after the second time (-want +got):\n%s", diff)
			}
		})
	}
}

// awaitStatus waits until the lifecycle manager has observed a Kyma.
func (b *bench) awaitStatus(kyma string) {
	b.Helper()
	namespace, name, _ := strings.Cut(kyma, "/")
	watcher, err := b.Watch(b.Context(), &v1beta2.KymaList{}, client.InNamespace(namespace), client.MatchingFields{"metadata.name": name})
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if found, ok := event.Object.(*v1beta2.Kyma); ok && found.Status.ObservedGeneration == found.Generation {
			return
		}
	}
}

func TestKyma_WhatIsRefusedForAKyma(t *testing.T) {
	b := newBench(t)
	b.manages()
	kyma := b.kyma("demo", v1beta2.Module{Name: b.notes, Version: "1.1.0"})
	b.awaitStatus(kyma)
	community := strings.Replace(b.notes, "notes", "widget", 1)
	b.create(b.community(community, "0.1.0", "red"))
	for name, c := range map[string]struct {
		deed   Request
		reason string
		word   string
	}{
		"an unknown module lists candidates":         {Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: "nobody"}}}, WhyNotFound, b.notes},
		"an unknown version lists candidates":        {Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes, Version: "9.0.0"}}}, WhyNotFound, "1.2.0, 1.1.0, 1.0.0"},
		"the Kyma's channel does not offer it":       {Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.beacon}}}, WhyNotFound, "fast (0.1.0)"},
		"a community module not requested as one":    {Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: community}}}, WhyRefused, "as a community module"},
		"a module of the Kyma, installed directly":   {Request{Kind: Add, Kyma: kyma, Direct: true, Modules: []Wanted{{Name: b.notes}}}, WhyRefused, "remove it from the Kyma first"},
		"nor where no Kyma is named":                 {Request{Kind: Upgrade, Items: []Item{{Kyma: kyma, Module: b.notes, Version: "1.0.0"}}}, WhyRefused, "lower than 1.1.0"},
		"a missing module cannot be released":        {Request{Kind: Unmanage, Kyma: kyma, Module: b.beacon}, WhyNotFound, "it has " + b.notes},
		"a channel that does not offer all modules":  {Request{Kind: Channel, Kyma: b.kyma("other", v1beta2.Module{Name: b.beacon, Channel: "fast"}), Module: b.beacon}, WhyNotFound, "fast (0.1.0)"},
		"a Kyma that is not there":                   {Request{Kind: Manage, Kyma: b.namespace + "/nobody", Module: b.notes}, WhyNotFound, "there is no Kyma"},
		"a custom resource of another kind":          {Request{Kind: Configure, Kyma: kyma, Module: b.notes, Object: sample(community, "x", "red")}, WhyNotFound, "no custom resource"},
		"an upgrade of what is not there":            {Request{Kind: Upgrade, Items: []Item{{Kyma: kyma, Module: b.beacon}}}, WhyNotFound, "has no module"},
		"a request with a field too many":            {Request{Kind: Manage, Kyma: kyma, Module: b.notes, Channel: "fast"}, WhyInvalid, "field channel"},
		"a manageable module without a Kyma":         {Request{Kind: Add, Direct: true, Modules: []Wanted{{Name: b.beacon}}}, WhyConfirm, b.beacon},
		"another word than the module's name":        {Request{Kind: Add, Direct: true, Confirmation: "yes", Modules: []Wanted{{Name: b.beacon}}}, WhyConfirm, b.beacon},
		"a manageable module requested as community": {Request{Kind: Add, Community: true, Modules: []Wanted{{Name: b.beacon}}}, WhyRefused, "is no community module"},
	} {
		t.Run(name, func(t *testing.T) {
			own := &bench{T: t, WithWatch: b.WithWatch, engine: b.engine, namespace: b.namespace, notes: b.notes, beacon: b.beacon}
			own.refused(b.admin(), c.deed, c.reason, c.word)
			if all, err := b.engine.List(t.Context(), b.admin()); err != nil || len(all) != 0 {
				t.Errorf("there are operations: %v %v", all, err)
			}
		})
	}
	if got := b.entries(kyma); got != "notes@1.1.0" {
		t.Errorf("the Kyma has %s", got)
	}
}

// TestUpgrade_RefusesWhatIsSuspended: the dashboard does not offer it, but an old page or another client may still request it.
func TestUpgrade_RefusesWhatIsSuspended(t *testing.T) {
	b := newBench(t)
	b.manages()
	asleep := map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	labelled := func(object client.Object) {
		t.Helper()
		before := object.DeepCopyObject().(client.Object)
		object.SetLabels(asleep)
		if err := b.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.kyma("whole", v1beta2.Module{Name: b.notes, Version: "1.0.0"})
	labelled(b.read(whole))
	b.awaitStatus(whole)
	part := b.kyma("part", v1beta2.Module{Name: b.notes, Version: "1.0.0"})
	b.awaitStatus(part)
	manifest := &v1beta2.Manifest{}
	manifest.Namespace, manifest.Name, manifest.Labels = b.namespace, "part-notes", asleep
	source := `{"type":"oci-ref","repo":"registry.example/r","name":"notes","ref":"sha256:0"}`
	manifest.Spec.Install = v1beta2.InstallInfo{Name: "notes", Source: runtime.RawExtension{Raw: []byte(source)}}
	b.create(manifest)
	before := b.read(part)
	after := before.DeepCopy()
	after.Status.Modules[0].Manifest = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Namespace: b.namespace, Name: "part-notes"}}
	if err := b.Status().Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	upgrade := func(kyma string) Request { return Request{Kind: Upgrade, Items: []Item{{Kyma: kyma, Module: b.notes}}} }
	b.refused(b.admin(), upgrade(whole), WhyRefused, "Kyma "+whole+" is suspended by the label", "remove the label first")
	b.refused(b.admin(), upgrade(part), WhyRefused, "module "+b.notes+" of Kyma "+part+" is suspended")
	for _, kyma := range []string{whole, part} {
		if got := b.entries(kyma); got != "notes@1.0.0" {
			t.Errorf("the Kyma %s has %s", kyma, got)
		}
	}
}

// TestKyma_TwoAtOnce: two users add two modules to one Kyma at the same moment, through two servers.
func TestKyma_TwoAtOnce(t *testing.T) {
	b := newBench(t)
	kyma := b.kyma("demo")
	alice, bob := b.user("alice-"+b.namespace, "system:masters"), b.user("bob-"+b.namespace, "system:masters")
	other := b.server()
	var both sync.WaitGroup
	ids := make([]string, 2)
	for i, deed := range []Request{
		{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}},
		{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.beacon, Channel: "fast"}}},
	} {
		both.Go(func() {
			engine, as := b.engine, alice
			if i == 1 {
				engine, as = other, bob
			}
			op, err := engine.Start(t.Context(), as, deed)
			if err != nil {
				t.Error(err)
			}
			ids[i] = op.ID
		})
	}
	both.Wait()
	if err := b.refused(bob, Request{Kind: Delete, Kyma: kyma, Module: b.notes}, WhyBusy, alice.Name); err == nil {
		t.Fatal("no error")
	}
	b.manages()
	b.ends(b.engine, alice, ids[0], Succeeded)
	b.ends(other, bob, ids[1], Succeeded)
	if got := b.entries(kyma); !strings.Contains(got, "notes") || !strings.Contains(got, "beacon:fast") {
		t.Errorf("the Kyma has %s", got)
	}
	op, err := b.waits(b.engine, alice, ids[1], func(op Operation) bool { return op.State == Succeeded }) // the other server ran it
	if err != nil || op.User != bob.Name {
		t.Errorf("%+v %v", op, err)
	}
}
