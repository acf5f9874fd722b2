package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// createAll creates a namespace with a bit of everything: Kymas in good and bad states, modules, templates, releases and events.
func (s *site) createAll(name string) {
	s.Helper()
	s.make(namespace(name))
	for _, module := range []string{"beacon", "greeter"} {
		release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: module}}
		release.Spec = v1beta2.ModuleReleaseMetaSpec{ModuleName: module, OCMComponentName: "kyma-project.io/module/" + module}
		release.Spec.Channels = []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "1.1.0"}}
		s.make(release, s.template(name, module, "1.0.0"))
	}
	s.make(s.template(name, "greeter", "1.1.0"))
	s.kyma(name, "good", v1beta2.StateReady, "beacon")
	bad := s.kyma(name, "bad", v1beta2.StateError, "beacon", "greeter")
	s.manifest(name, "bad", "greeter")
	s.make(event(bad, name))
}

func (s *site) template(namespace, module, version string) client.Object {
	t := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: module + "-" + version}}
	t.Spec.ModuleName, t.Spec.Version = module, version
	t.Spec.Info = &v1beta2.ModuleInfo{Repository: "https://example.com/" + module, Documentation: "https://example.com/docs"}
	t.Spec.Data = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Sample", "metadata": map[string]any{"name": module, "namespace": "kyma-system"},
		"spec": map[string]any{"size": "small"},
	}}
	t.Spec.Resources = []v1beta2.Named{{Name: "rawManifest", Link: "https://example.com/" + module + ".yaml"}}
	return t
}

// manifest creates the Manifest of a module, in state Error.
func (s *site) manifest(namespace, kyma, module string) *v1beta2.Manifest {
	s.Helper()
	m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: kyma + "-" + module, Labels: map[string]string{
		v1beta2.LabelKymaName: kyma, v1beta2.LabelModuleName: module, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
	}}}
	m.Spec.Install.Source.Raw, m.Spec.Version = []byte(`{}`), "1.0.0"
	s.make(m)
	m.Status.State, m.Status.ObservedGeneration = v1beta2.StateError, m.Generation
	m.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonRegistryUnreachable,
		Message: "registry.example.com does not answer", LastTransitionTime: metav1.Now(),
	}}
	if err := s.admin.Status().Update(s.Context(), m); err != nil {
		s.Fatal(err)
	}
	return m
}

func event(of *v1beta2.Kyma, namespace string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: of.Name + ".1"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "operator.kyma-project.io/v1beta2", Kind: "Kyma", Namespace: namespace, Name: of.Name},
		Type:           "Warning", Reason: "ModuleError", Message: "module greeter failed", Count: 3, LastTimestamp: metav1.Now(),
	}
}

func TestReads_EveryPageHasItsData(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("pages")
	s.enter()

	kymas := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=pages&sort=state")
	if kymas.Total != 2 || kymas.Items[0].Name != "bad" || kymas.Items[0].State != modulestatus.Error || kymas.Items[1].Modules != "1/1" {
		t.Errorf("Kymas: %+v", kymas)
	}
	kyma := get[kymaDetail](s, "/api/v1/kymas/pages/bad")
	if len(kyma.Modules) != 2 || kyma.Spec.Channel != "regular" || !kyma.Spec.Remote || kyma.LastOperation == nil || !kyma.Access.Edit {
		t.Errorf("Kyma: %+v", kyma)
	}
	if !slices.Equal(kyma.Channels, []string{"fast", "regular"}) || len(kyma.Events) != 1 || kyma.Events[0].Count != 3 {
		t.Errorf("channels %v, events %+v", kyma.Channels, kyma.Events)
	}
	modules := get[List[modulestatus.Module]](s, "/api/v1/modules?kyma=pages/bad&state=Error&sort=-name")
	if modules.Total != 2 || modules.Items[0].Name != "greeter" || modules.Items[0].Kyma != "pages/bad" {
		t.Errorf("modules: %+v", modules)
	}
	module := get[moduleDetail](s, "/api/v1/modules/pages/bad/greeter")
	var chain []string
	for _, why := range module.Why {
		chain = append(chain, why.What+": "+why.Reason)
	}
	want := []string{"Kyma pages/bad: ", "Module greeter: ModuleError", "Manifest pages/bad-greeter: RegistryUnreachable"}
	if !slices.Equal(chain, want) {
		t.Errorf("why: %q, want %q", chain, want)
	}
	if last := module.Why[len(module.Why)-1]; last.Remedy == "" || last.Message != "registry.example.com does not answer" {
		t.Errorf("the last link: %+v", last)
	}
	offered := len(module.Versions) == 2 && len(module.Links) == 1 && module.Documentation != ""
	if module.Tree == nil || module.Tree.Name != "greeter" || !offered {
		t.Errorf("module: %+v", module)
	}
	if module.Flow.Delete.Step != modulestatus.RemoveEntry || !module.Access.Edit {
		t.Errorf("what comes next: %+v %+v", module.Flow, module.Access)
	}
	resource := get[moduleResource](s, "/api/v1/modules/pages/bad/greeter/resource")
	if resource.Default["kind"] != "Sample" || resource.Object != nil || resource.Editable || resource.Reason == "" {
		t.Errorf("resource: %+v", resource)
	}
	overview := get[overview](s, "/api/v1/overview")
	found := slices.ContainsFunc(overview.Attention.Items, func(a attention) bool {
		return a.Kind == "Module" && a.Kyma == "pages/bad" && a.Name == "greeter"
	})
	if !found || overview.Kymas[modulestatus.Error] == 0 || overview.Health.Manager.Ready || overview.Health.Manager.Message == "" {
		t.Errorf("overview: %+v", overview)
	}
	events := get[List[Event]](s, "/api/v1/events?kyma=pages/bad")
	if events.Total != 1 || events.Items[0].Object.Name != "bad" {
		t.Errorf("events: %+v", events)
	}
	settings := get[settings](s, "/api/v1/settings")
	if settings.Versions.Dashboard != "1.2.3" || !strings.HasPrefix(settings.Versions.Kubernetes, "v1.") || !settings.Access[0].Allowed {
		t.Errorf("settings: %+v", settings)
	}
	if !slices.Contains(settings.Versions.CRDs["Kyma"], "v1beta2") || settings.Health[0].State != modulestatus.Ready {
		t.Errorf("settings: %+v", settings)
	}
}

func TestCatalogAndReleases(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("shop")
	s.enter()
	offers := get[List[modulestatus.Offer]](s, "/api/v1/catalog?search=greeter+sample&type=manageable")
	at := slices.IndexFunc(offers.Items, func(o modulestatus.Offer) bool { return o.Namespace == "shop" && o.Name == "greeter" })
	if at < 0 || len(offers.Items[at].Versions) != 2 {
		t.Fatalf("catalog: %+v", offers)
	}
	if one := get[modulestatus.Offer](s, "/api/v1/catalog/greeter?namespace=shop"); one.Namespace != "shop" || len(one.Channels) != 2 {
		t.Errorf("offer: %+v", one)
	}
	if r := s.do(http.MethodGet, "/api/v1/catalog/nothing", ""); r.status != http.StatusNotFound {
		t.Errorf("an offer that there is not: %d %s", r.status, r.body)
	}
	releases := get[releaseList](s, "/api/v1/releases?search=beacon")
	at = slices.IndexFunc(releases.Items, func(r releaseLine) bool { return r.Namespace == "shop" })
	if at < 0 || !slices.Contains(releases.Channels, "fast") {
		t.Fatalf("releases: %+v", releases)
	}
	if one := releases.Items[at]; one.Channels["fast"] != "1.1.0" || !one.Access.Edit || one.Installed["1.0.0"] == 0 {
		t.Errorf("release: %+v", one)
	}
	if problems := releases.Items[at].Problems; len(problems) != 1 || !strings.Contains(problems[0], "channel fast offers 1.1.0") {
		t.Errorf("a channel without a template is no problem: %q", problems)
	}
}

func TestPagesAndFilters(t *testing.T) {
	s := open(t, ModeLocal)
	s.make(namespace("paged"))
	for i := range 7 {
		s.kyma("paged", fmt.Sprintf("k%d", i), v1beta2.StateReady)
	}
	s.enter()
	for name, c := range map[string]struct {
		query string
		first string
		items int
		total int
	}{
		"the first page":           {"limit=3", "k0", 3, 7},
		"the last page":            {"limit=3&offset=6", "k6", 1, 7},
		"beyond the end":           {"offset=100", "", 0, 7},
		"backwards":                {"sort=-name&limit=2", "k6", 2, 7},
		"searched":                 {"search=PAGED/K3", "k3", 1, 1},
		"two words":                {"search=k4+ready", "k4", 1, 1},
		"a state that no Kyma has": {"state=Error", "", 0, 0},
		"one of two states":        {"state=Error&state=Ready&limit=1", "k0", 1, 7},
	} {
		t.Run(name, func(t *testing.T) {
			list := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=paged&"+c.query)
			if len(list.Items) != c.items || list.Total != c.total || c.items > 0 && list.Items[0].Name != c.first {
				t.Errorf("%+v", list)
			}
		})
	}
	long := "search=" + strings.Repeat("x", 201)
	for _, query := range []string{"limit=0", "limit=1000", "offset=-1", "limit=x", "sort=colour", "stat=Error", long} {
		if r := s.do(http.MethodGet, "/api/v1/kymas?"+query, ""); r.status != http.StatusBadRequest || r.problem(t).Message == "" {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
}

func TestReads_WhatThereIsNot(t *testing.T) {
	s := open(t, ModeLocal)
	s.enter()
	for _, path := range []string{
		"/api/v1/kymas/none/none", "/api/v1/modules/none/none/none", "/api/v1/direct/none", "/api/v1/direct/none/resource",
		"/api/v1/nothing", "/api/nothing",
	} {
		if r := s.do(http.MethodGet, path, ""); r.status != http.StatusNotFound || r.problem(t).Reason != WhyNotFound {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestReads_OneNamespaceIsAllThatSomebodyWithOneSees(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("mine")
	s.createAll("theirs")
	s.enterAs(s.token("only-mine", "mine"))
	kymas := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas")
	for _, k := range kymas.Items {
		if k.Namespace != "mine" {
			t.Errorf("shows %s/%s", k.Namespace, k.Name)
		}
	}
	if kymas.Total != 2 {
		t.Errorf("shows %d Kymas", kymas.Total)
	}
	partial := slices.ContainsFunc(kymas.Unread, func(u Unread) bool {
		return u.Kind == "Kyma."+ownGroup && u.Reason == WhyForbidden && strings.HasSuffix(u.Message, "only in mine")
	})
	if !partial {
		t.Errorf("does not say that it is not everything: %+v", kymas.Unread)
	}
	for _, path := range []string{
		"/api/v1/modules?limit=200", "/api/v1/catalog?limit=200", "/api/v1/releases", "/api/v1/overview", "/api/v1/events",
	} {
		if r := s.do(http.MethodGet, path, ""); r.status != http.StatusOK || strings.Contains(string(r.body), "theirs") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	r := s.do(http.MethodGet, "/api/v1/kymas/theirs/good", "")
	if r.status != http.StatusForbidden || !strings.Contains(r.problem(t).Message, "ask an administrator") {
		t.Errorf("a Kyma of others: %d %s", r.status, r.body)
	}
	if d := get[kymaDetail](s, "/api/v1/kymas/mine/bad"); d.Access.Edit || d.Access.Secret || len(d.Events) != 1 {
		t.Errorf("my Kyma: %+v", d)
	}
	if d := get[moduleDetail](s, "/api/v1/modules/mine/bad/greeter"); d.Access.Runtime || d.Access.Edit || d.Tree == nil {
		t.Errorf("my module: %+v", d.Access)
	}

	s.browser()
	s.enterAs(s.token("sees-nothing", ""))
	if kymas := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas"); kymas.Total != 0 || len(kymas.Unread) < 4 {
		t.Errorf("a user without rights sees %+v", kymas)
	}
	s.browser()
	s.enterAs(s.token("sees-all", "*"))
	if kymas := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=theirs&namespace=mine"); kymas.Total != 4 {
		t.Errorf("a user with all rights sees %+v", kymas)
	}
}

func TestReads_TheSameRightsShareOneComputation(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("shared")
	for i := range 3 {
		s.browser()
		s.enterAs(s.token(fmt.Sprintf("shares-%d", i), "*"))
		get[List[modulestatus.KymaLine]](s, "/api/v1/kymas")
	}
	eventually(t, 20*time.Second, "one computation serves all", func() bool {
		beat := s.server.pulse.number()
		s.server.mutex.Lock()
		defer s.server.mutex.Unlock()
		current := 0
		for _, one := range s.server.kept {
			if one.beat == beat {
				current++
			}
		}
		return current <= 1
	})
}

func TestReads_WhoLeavesTakesNothingFromOthers(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("stay")
	secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}}
	s.make(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "secret-reader"}, Rules: []rbacv1.PolicyRule{secrets}})
	var browsers []*http.Client
	for _, name := range []string{"leaves", "stays"} {
		s.browser()
		s.make(&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-secrets"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "secret-reader"},
		})
		apiserver.Allowed(t, s.admin, "system:serviceaccount:default:"+name, "", secrets)
		s.enterAs(s.token(name, "*"))
		browsers = append(browsers, s.http)
		list := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=stay")
		if list.Total != 2 || slices.ContainsFunc(list.Unread, func(u Unread) bool { return u.Kind == "Secret" }) {
			t.Fatalf("%s sees %+v", name, list)
		}
	}
	s.http = browsers[0]
	s.do(http.MethodDelete, "/api/v1/session", "")
	s.http = browsers[1]
	messages := s.listen("/api/v1/modules?kyma=&search=handmade")
	s.until(messages, 20*time.Second, "the first result", func(message) bool { return true })
	record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kyma-system", Name: "manifest.handmade", Labels: modulestatus.DirectNote{}.Labels("handmade"),
	}, Data: map[string][]byte{"record.json": []byte(`{}`)}}
	record.Annotations, _ = modulestatus.DirectNote{Version: "1.0.0", Complete: true}.Annotations()
	s.make(namespace("kyma-system"), record)
	s.until(messages, 20*time.Second, "a module that was installed directly", func(m message) bool {
		return strings.Contains(string(m.Body), `"name":"handmade"`)
	})
	if d := get[moduleDetail](s, "/api/v1/direct/handmade"); d.Module.Record == nil || d.Flow.Delete.Step != modulestatus.DeleteObjects {
		t.Errorf("direct: %+v", d)
	}
}
