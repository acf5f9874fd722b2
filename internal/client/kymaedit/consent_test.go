package kymaedit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var digestOf = map[string]string{"a": "sha256:" + strings.Repeat("a", 64), "b": "sha256:" + strings.Repeat("b", 64)}

// waiting returns a Kyma whose module notes waits for consent.
func waiting(kyma *v1beta2.Kyma, approved string, pending *v1beta2.PendingVersion) *v1beta2.Kyma {
	kyma.Spec.Channel = "regular"
	kyma.Spec.Modules = []v1beta2.Module{{Name: "notes", Approved: approved}}
	kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", Version: "1.0.0", Pending: pending}}
	return kyma
}

func kymaOn(side string) *v1beta2.Kyma {
	local := false
	switch side {
	case "runtime":
		return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName,
			Labels: map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}}}
	case "local":
		return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"}, Spec: v1beta2.KymaSpec{Remote: &local}}
	}
	return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"}}
}

func TestFindConsent(t *testing.T) {
	hub, runtime := v1beta2.ConsentHub, v1beta2.ConsentRuntime
	from := func(sides ...v1beta2.ConsentSide) *v1beta2.PendingVersion {
		return &v1beta2.PendingVersion{Version: "1.1.0", Digest: digestOf["a"], From: sides}
	}
	reference := "1.1.0@" + digestOf["a"]
	for name, c := range map[string]struct {
		on       string
		pending  *v1beta2.PendingVersion
		approved string
		version  string
		already  bool
		others   []v1beta2.ConsentSide
		refused  string
	}{
		"the hub's consent is missing":                    {on: "hub", pending: from(hub)},
		"the runtime's consent is missing":                {on: "runtime", pending: from(runtime)},
		"both are, and each agrees for itself":            {on: "hub", pending: from(hub, runtime), others: []v1beta2.ConsentSide{runtime}},
		"a local Kyma stands for the runtime":             {on: "local", pending: from(runtime)},
		"and for both":                                    {on: "local", pending: from(hub, runtime)},
		"the version is named":                            {on: "hub", pending: from(hub), version: "1.1.0"},
		"the content is named":                            {on: "hub", pending: from(hub), version: reference},
		"it was approved, and is not seen yet":            {on: "hub", pending: from(hub), approved: reference, already: true},
		"this side agreed, the other did not yet":         {on: "hub", pending: from(runtime), approved: reference, already: true, others: []v1beta2.ConsentSide{runtime}},
		"an approval of other content counts for nothing": {on: "hub", pending: from(hub), approved: "1.1.0@" + digestOf["b"]},
		"nothing waits":                                   {on: "hub", refused: "no version of it waits for consent"},
		"none is missing, and it waits for a window": {on: "runtime", pending: from(),
			refused: "version 1.1.0 has the consent that it needs, and waits for something else"},
		"this side agreed, and it waits for a window": {on: "hub", pending: from(), approved: reference, already: true},
		"the content is not known yet": {on: "hub", pending: &v1beta2.PendingVersion{Version: "1.1.0"},
			refused: "version 1.1.0 waits, and what it installs is not known yet"},
		"another version is named": {on: "hub", pending: from(hub), version: "1.2.0", refused: reference + " waits for consent, not 1.2.0"},
		"other content is named": {on: "hub", pending: from(hub), version: "1.1.0@" + digestOf["b"],
			refused: reference + " waits for consent, not 1.1.0@" + digestOf["b"]},
		"it waits for the hub alone": {on: "runtime", pending: from(hub),
			refused: "version 1.1.0 of module notes does not wait for your consent: the operator of the hub must agree"},
		"it waits for the runtime alone": {on: "hub", pending: from(runtime),
			refused: "version 1.1.0 of module notes does not wait for your consent: the user of the runtime must agree"},
	} {
		t.Run(name, func(t *testing.T) {
			s := StandOf(waiting(kymaOn(c.on), c.approved, c.pending))
			got, err := s.FindConsent("notes", c.version)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("error %v, want %q in it", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := Consent{Module: "notes", Pending: *c.pending, Reference: reference, Already: c.already, Others: c.others}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestApprove(t *testing.T) {
	asked, other := "1.1.0@"+digestOf["a"], "1.1.0@"+digestOf["b"]
	waits := func(digest string) *v1beta2.PendingVersion {
		return &v1beta2.PendingVersion{Version: "1.1.0", Digest: digest}
	}
	for name, c := range map[string]struct {
		pending  *v1beta2.PendingVersion
		approved string
		action   Action
		want     string
		refused  string
	}{
		"what waits is approved":                  {waits(digestOf["a"]), "", Changed, asked, ""},
		"in place of what was approved before":    {waits(digestOf["a"]), other, Changed, asked, ""},
		"a second time changes nothing":           {waits(digestOf["a"]), asked, Unchanged, asked, ""},
		"nor when it is installed already":        {nil, asked, Unchanged, asked, ""},
		"content that changed meanwhile does not": {waits(digestOf["b"]), "", "", "", "module notes changed meanwhile: " + other + " waits for consent now, not " + asked},
		"nor what no longer waits":                {nil, "", "", "", "version " + asked + " of module notes no longer waits for consent"},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := waiting(kymaOn("hub"), c.approved, c.pending)
			change, err := Approve(kyma, "notes", asked)
			if c.refused != "" {
				if changed, is := errors.AsType[*PendingChangedError](err); !is || changed.Error() != c.refused {
					t.Errorf("error %v, want %q", err, c.refused)
				}
				return
			}
			if err != nil || change.Action != c.action || kyma.Spec.Modules[0].Approved != c.want {
				t.Errorf("%s, approved %q: %v", change.Action, kyma.Spec.Modules[0].Approved, err)
			}
			if c.action == Changed && cmp.Diff([]string{"approved"}, change.Fields) != "" {
				t.Errorf("it changed %v", change.Fields)
			}
		})
	}
}

func TestEnable_SetsUpgradeStrategy(t *testing.T) {
	spec := &v1beta2.KymaSpec{Modules: []v1beta2.Module{{Name: "notes", Version: "1.0.0"}}}
	change := Enable(spec, ModuleRequest{Name: "notes", Strategy: v1beta2.UpgradeManual})
	if cmp.Diff([]string{"upgradeStrategy"}, change.Fields) != "" || spec.Modules[0].UpgradeStrategy != v1beta2.UpgradeManual {
		t.Errorf("%+v: %+v", change, spec.Modules[0])
	}
	if again := Enable(spec, ModuleRequest{Name: "notes"}); again.Action != Unchanged || spec.Modules[0].UpgradeStrategy != v1beta2.UpgradeManual {
		t.Errorf("without a wish: %+v: %+v", again, spec.Modules[0])
	}
}
