package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// TestFixes_EachIsADeedThatMayBeStarted: whatever a fix is, its deed is valid, and says who may not.
func TestFixes_EachIsADeedThatMayBeStarted(t *testing.T) {
	for name, c := range map[string]struct {
		fix  kymaedit.Fix
		want string
	}{
		"a channel":             {kymaedit.Fix{Kind: kymaedit.FixChannel, Channel: "fast"}, "Set notes to fast in a/demo"},
		"the Kyma's channel":    {kymaedit.Fix{Kind: kymaedit.FixChannel}, "Let notes follow the channel of a/demo"},
		"a version":             {kymaedit.Fix{Kind: kymaedit.FixVersion, Version: "1.0.0"}, "Set notes to 1.0.0 in a/demo"},
		"consent":               {kymaedit.Fix{Kind: kymaedit.FixApprove, Reference: "1.2.0@" + someDigest}, "Approve notes 1.2.0 in a/demo"},
		"what is missing":       {kymaedit.Fix{Kind: kymaedit.FixAdd, Add: []kymaedit.ModuleRequest{{Name: "istio", Channel: "fast"}}}, "Add istio in a/demo"},
		"once more":             {kymaedit.Fix{Kind: kymaedit.FixRetry}, "Try notes again in a/demo"},
		"the end of suspension": {kymaedit.Fix{Kind: kymaedit.FixResume}, "Resume Kyma a/demo"},
		"a connection":          {kymaedit.Fix{Kind: kymaedit.FixConnect}, ""},
		"a deletion":            {kymaedit.Fix{Kind: kymaedit.FixDelete}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			act := fixActOf(c.fix, "a/demo", "notes", kymaAccess{Edit: true, Connect: true})
			if !act.Allowed || act.Why != "" || (act.Deed == nil) != (c.want == "") {
				t.Fatalf("%+v", act)
			}
			if act.Deed != nil && (act.Deed.Validate() != nil || act.Deed.Title() != c.want) {
				t.Errorf("%q: %v", act.Deed.Title(), act.Deed.Validate())
			}
			if denied := fixActOf(c.fix, "a/demo", "notes", kymaAccess{}); denied.Allowed || !strings.Contains(denied.Why, "Ask an administrator") {
				t.Errorf("without rights: %+v", denied)
			}
		})
	}
}

// stuck writes that a module is refused, in the words of the lifecycle manager.
func (s *site) stuck(kyma *v1beta2.Kyma, module, message string) {
	s.Helper()
	for i := range kyma.Status.Modules {
		if m := &kyma.Status.Modules[i]; m.Name == module {
			m.State, m.Message = v1beta2.StateError, message
		}
	}
	if err := s.admin.Status().Update(s.Context(), kyma); err != nil {
		s.Fatal(err)
	}
}

// TestFixes_OnThePagesOfModuleAndKyma: a wrong channel is followed by those that have the module, on both pages.
func TestFixes_OnThePagesOfModuleAndKyma(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("z-fixable")
	wrong := s.kyma("z-fixable", "wrong", v1beta2.StateError, "greeter")
	wrong.Spec.Modules[0].Channel = "nightly"
	status := wrong.Status
	if err := s.admin.Update(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	wrong.Status = status
	wrong.Status.ObservedGeneration = wrong.Generation
	s.stuck(wrong, "greeter", `no version found for channel "nightly" in ModuleReleaseMeta "greeter"`)
	s.enter()
	want := []string{"Follow the Kyma's channel regular (1.0.0)", "Follow channel fast (1.1.0)"}
	titles := func(fixes []fixAct) (all []string) {
		for _, fix := range fixes {
			all = append(all, fix.Title)
			if fix.Module != "greeter" || !fix.Allowed || fix.Deed == nil || fix.Deed.Kind != operations.Channel {
				t.Errorf("%+v", fix)
			}
		}
		return all
	}
	if module := get[moduleDetail](s, "/api/v1/modules/z-fixable/wrong/greeter"); !slices.Equal(titles(module.Fixes), want) {
		t.Errorf("the module: %+v, %+v", module.Fixes, module.Module)
	}
	kyma := get[kymaDetail](s, "/api/v1/kymas/z-fixable/wrong")
	if !slices.Equal(titles(kyma.Fixes), want) || kyma.Suspended {
		t.Errorf("the Kyma: %+v", kyma.Fixes)
	}
	wrong.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"}
	if err := s.admin.Update(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the suspension", func() bool {
		kyma = get[kymaDetail](s, "/api/v1/kymas/z-fixable/wrong")
		return kyma.Suspended
	})
	if len(kyma.Fixes) != 1 || kyma.Fixes[0].Kind != kymaedit.FixResume {
		t.Errorf("a suspended Kyma: %+v", kyma.Fixes)
	}
	if good := get[kymaDetail](s, "/api/v1/kymas/z-fixable/good"); len(good.Fixes) != 0 {
		t.Errorf("where nothing is wrong: %+v", good.Fixes)
	}
}

func TestNewKyma_SaysWhereAndWhat(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("z-founding")
	s.make(&v1beta2.KymaRelease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "z-founding", Name: "spring"},
		Spec:       v1beta2.KymaReleaseSpec{Modules: []v1beta2.ReleasedModule{{Name: "greeter", Version: "1.0.0"}}},
	})
	s.enter()
	is := get[newKyma](s, "/api/v1/newkyma")
	at := slices.IndexFunc(is.Namespaces, func(p newKymaPlace) bool { return p.Namespace == "z-founding" })
	if !is.Allowed || is.Why != "" || at < 0 {
		t.Fatalf("%+v", is)
	}
	place := is.Namespaces[at]
	slices.Sort(place.Kymas)
	if !place.Connect || !slices.Equal(place.Channels, []string{"fast", "regular"}) || !slices.Equal(place.Releases, []string{"spring"}) ||
		!slices.Equal(place.Kymas, []string{"bad", "good"}) || len(place.Modules) != 2 {
		t.Errorf("%+v", place)
	}
	for _, module := range place.Modules {
		if module.Name == "beacon" && !slices.ContainsFunc(module.Channels, func(c modulestatus.OfferChannel) bool { return c.Channel == "fast" && c.Missing }) {
			t.Errorf("beacon has no template for fast: %+v", module)
		}
	}
}

// TestNewKyma_WhoMayNotIsTold: a user who may read, and one who may create but not connect.
func TestNewKyma_WhoMayNotIsTold(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("z-barred")
	s.enterAs(s.token("barred-reader", "*"))
	if is := get[newKyma](s, "/api/v1/newkyma"); is.Allowed || !strings.Contains(is.Why, "may not create Kymas") || len(is.Namespaces) != 0 {
		t.Errorf("%+v", is)
	}
	if kyma := get[kymaDetail](s, "/api/v1/kymas/z-barred/bad"); kyma.Access.Connect || kyma.Access.Delete {
		t.Errorf("%+v", kyma.Access)
	}
	s.browser()
	maker := s.token("barred-maker", "z-barred")
	s.mayWrite("barred-maker", "z-barred")
	s.enterAs(maker)
	if is := get[newKyma](s, "/api/v1/newkyma"); !is.Allowed || len(is.Namespaces) != 1 || is.Namespaces[0].Connect {
		t.Errorf("%+v", is)
	}
}
