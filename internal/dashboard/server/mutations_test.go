package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// acting returns an option that enables operations.
func acting(t *testing.T, namespace string) func(*Options) {
	t.Helper()
	return func(o *Options) {
		tasks, err := operations.New(operations.Options{Records: o.Config, Namespace: namespace, Sources: namespace, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		o.Tasks = tasks
	}
}

// offers creates a namespace with the module papers on offer, and a local Kyma without modules.
func (s *site) offers(namespaceName string) {
	s.Helper()
	local := false
	s.make(namespace(namespaceName),
		&v1beta2.ModuleReleaseMeta{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "papers"},
			Spec: v1beta2.ModuleReleaseMetaSpec{
				ModuleName: "papers", OCMComponentName: "example.com/module/papers",
				Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}},
			},
		},
		&v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "papers-1.0.0"},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: "papers", Version: "1.0.0"},
		},
		&v1beta2.Kyma{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "demo"}, Spec: v1beta2.KymaSpec{Channel: "regular", Remote: &local},
		})
}

// sends makes a request with a body, whose response must have a status.
func (s *site) sends(method, path, body string, status int) reply {
	s.Helper()
	r := s.do(method, path, body, func(request *http.Request) { request.Header.Set("Content-Type", "application/json") })
	if r.status != status {
		s.Fatalf("%s %s: status %d, want %d: %s", method, path, r.status, status, r.body)
	}
	return r
}

func into[T any](s *site, r reply) T {
	s.Helper()
	var made T
	if err := json.Unmarshal(r.body, &made); err != nil {
		s.Fatalf("%v in %s", err, r.body)
	}
	return made
}

const addPapers = `{"kind":"add","kyma":"acts/demo","modules":[{"name":"papers"}]}`

func TestMutations_AnOperationFromClickToEnd(t *testing.T) {
	s := open(t, ModeLocal, acting(t, "acts"))
	s.offers("acts")
	s.enter()
	preview := into[operations.Preview](s, s.sends(http.MethodPost, "/api/v1/previews", addPapers, http.StatusOK))
	if preview.Way != "Kyma" || preview.Refused != "" || len(preview.Diff) != 1 || preview.Diff[0].Change != "Update" {
		t.Fatalf("%+v", preview)
	}
	op := into[operations.Operation](s, s.sends(http.MethodPost, "/api/v1/operations", addPapers, http.StatusAccepted))
	if op.State != operations.Running || !op.Access.Cancel || op.Title == "" {
		t.Errorf("%+v", op)
	}
	if p := s.sends(http.MethodPost, "/api/v1/operations", addPapers, http.StatusConflict).problem(t); p.Reason != WhyConflict {
		t.Errorf("a second one: %+v", p)
	}
	one := "/api/v1/operations/" + op.ID
	if list := get[List[operations.Operation]](s, "/api/v1/operations?state=Running&search=papers"); list.Total != 1 || list.Items[0].ID != op.ID {
		t.Errorf("%+v", list)
	}
	if list := get[List[operations.Operation]](s, "/api/v1/operations?state=Failed"); list.Total != 0 || list.Items == nil {
		t.Errorf("%+v", list)
	}
	s.sends(http.MethodGet, "/api/v1/operations?stat=Failed", "", http.StatusBadRequest)
	s.sends(http.MethodPost, one+"/cancel", "", http.StatusAccepted)
	eventually(t, time.Minute, "cancelled", func() bool { return get[operations.Operation](s, one).State == operations.Cancelled })
	s.sends(http.MethodPost, one+"/resume", "", http.StatusAccepted)
	s.sends(http.MethodPost, one+"/cancel", "", http.StatusAccepted)
	eventually(t, time.Minute, "cancelled again", func() bool { return get[operations.Operation](s, one).State == operations.Cancelled })
	s.sends(http.MethodDelete, one, "", http.StatusNoContent)
	eventually(t, time.Minute, "off the list", func() bool { return s.do(http.MethodGet, one, "").status == http.StatusNotFound })
	s.sends(http.MethodPost, one+"/resume", "", http.StatusNotFound)
	kyma := &v1beta2.Kyma{}
	if err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: "acts", Name: "demo"}, kyma); err != nil || len(kyma.Spec.Modules) != 1 {
		t.Errorf("%+v %v", kyma.Spec, err)
	}
}

func TestMutations_WhatCannotBeDoneSaysWhy(t *testing.T) {
	s := open(t, ModeLocal, acting(t, "acts"))
	s.offers("acts")
	s.enter()
	for name, c := range map[string]struct {
		body   string
		status int
		reason string
		word   string
	}{
		"an empty request":   {`{}`, http.StatusBadRequest, WhyInvalid, "kind"},
		"an unknown field":   {`{"kind":"delete","modul":"x"}`, http.StatusBadRequest, WhyInvalid, "modul"},
		"an unknown Kyma":    {`{"kind":"manage","kyma":"acts/nobody","module":"papers"}`, http.StatusNotFound, WhyNotFound, "there is no Kyma"},
		"an unknown module":  {`{"kind":"add","kyma":"acts/demo","modules":[{"name":"nobody"}]}`, http.StatusNotFound, WhyNotFound, "papers"},
		"no confirmation":    {`{"kind":"add","direct":true,"modules":[{"name":"papers","namespace":"acts"}]}`, http.StatusConflict, operations.WhyConfirm, "papers"},
		"a missing template": {`{"kind":"promote","release":"acts/papers","channel":"fast","version":"2.0.0"}`, http.StatusUnprocessableEntity, WhyRefused, "papers-2.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			own := &site{T: t, server: s.server, base: s.base, http: s.http, admin: s.admin}
			if p := own.sends(http.MethodPost, "/api/v1/operations", c.body, c.status).problem(t); p.Reason != c.reason || !strings.Contains(p.Message, c.word) {
				t.Errorf("%+v", p)
			}
		})
	}
	s.sends(http.MethodPost, "/api/v1/operations", `{"kind":"promote","release":"acts/papers","channel":"fast","version":"1.0.0"}`, http.StatusAccepted)
	eventually(t, time.Minute, "promoted", func() bool {
		release := &v1beta2.ModuleReleaseMeta{}
		err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: "acts", Name: "papers"}, release)
		return err == nil && len(release.Spec.Channels) == 2
	})
}

// TestMutations_EverybodyActsAsThemselves: a user who may only read starts nothing, users see only what they may read, and no token is
// recorded.
func TestMutations_EverybodyActsAsThemselves(t *testing.T) {
	s := open(t, ModeCluster, acting(t, "acts-cluster"))
	s.offers("acts-cluster")
	deed := strings.Replace(addPapers, "acts/", "acts-cluster/", 1)
	s.enterAs(s.token("acts-reader", "acts-cluster"))
	if p := s.sends(http.MethodPost, "/api/v1/previews", deed, http.StatusOK); !strings.Contains(into[operations.Preview](s, p).Refused, "may not change") {
		t.Errorf("%s", p.body)
	}
	if p := s.sends(http.MethodPost, "/api/v1/operations", deed, http.StatusForbidden).problem(t); !strings.Contains(p.Message, "acts-reader lacks the permission") {
		t.Errorf("%+v", p)
	}
	writing := s.token("acts-writer", "acts-cluster")
	s.mayWrite("acts-writer", "acts-cluster")
	s.browser()
	s.enterAs(writing)
	op := into[operations.Operation](s, s.sends(http.MethodPost, "/api/v1/operations", deed, http.StatusAccepted))
	one := "/api/v1/operations/" + op.ID
	var maps corev1.ConfigMapList
	if err := s.admin.List(t.Context(), &maps, client.InNamespace("acts-cluster"), client.HasLabels{operations.LabelTask}); err != nil || len(maps.Items) != 1 {
		t.Fatalf("%d records, %v", len(maps.Items), err)
	}
	for _, text := range maps.Items[0].Data {
		if strings.Contains(text, strings.Split(writing, ".")[1]) {
			t.Error("a token is recorded")
		}
	}
	s.sends(http.MethodPost, one+"/cancel", "", http.StatusAccepted)
	eventually(t, time.Minute, "cancelled", func() bool { return get[operations.Operation](s, one).State == operations.Cancelled })
	s.browser()
	s.enterAs(s.token("acts-nobody", ""))
	s.sends(http.MethodGet, one, "", http.StatusNotFound)
	if list := get[List[operations.Operation]](s, "/api/v1/operations"); list.Total != 0 {
		t.Errorf("%+v", list)
	}
}

// mayWrite allows an account to change all objects of our group in a namespace.
func (s *site) mayWrite(name, where string) {
	s.Helper()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{ownGroup}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	s.make(
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: name + "-writes"}, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: name + "-writes"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name + "-writes"},
		})
	apiserver.Allowed(s, s.admin, "system:serviceaccount:default:"+name, where, rules[0])
}

func TestSourcesOfModules(t *testing.T) {
	s := open(t, ModeLocal, acting(t, "acts-sources"))
	s.offers("acts-sources")
	s.enter()
	made := into[communitycatalog.Source](s, s.sends(http.MethodPost, "/api/v1/sources", `{"name":"here","url":"cluster://acts-sources"}`, http.StatusCreated))
	if made.Kind != communitycatalog.Cluster || made.Modules != 1 || made.Checked == nil || made.Read == nil {
		t.Errorf("%+v", made)
	}
	tested := into[operations.Tested](s, s.sends(http.MethodPost, "/api/v1/sources/test", `{"name":"here"}`, http.StatusOK))
	if len(tested.Modules) != 1 || tested.Modules[0].Name != "papers" || tested.Modules[0].New {
		t.Errorf("%+v", tested)
	}
	if list := get[List[communitycatalog.Source]](s, "/api/v1/sources?search=here"); list.Total != 1 || list.Items[0].Modules != 1 || list.Items[0].Checked == nil {
		t.Errorf("%+v", list)
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
		word       string
	}{
		"a name that is taken":   {"/api/v1/sources", `{"name":"here","url":"cluster://other"}`, http.StatusConflict, "already"},
		"an address without TLS": {"/api/v1/sources", `{"name":"plain","url":"http://example.com/x"}`, http.StatusBadRequest, "https"},
		"a private address":      {"/api/v1/sources/test", `{"url":"https://127.0.0.1:1/x"}`, http.StatusBadRequest, "private address"},
		"a metadata service":     {"/api/v1/sources/test", `{"url":"https://169.254.169.254/x"}`, http.StatusBadRequest, "link-local"},
		"an unknown source":      {"/api/v1/sources/test", `{"name":"nobody"}`, http.StatusNotFound, "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			own := &site{T: t, server: s.server, base: s.base, http: s.http, admin: s.admin}
			if p := own.sends(http.MethodPost, c.path, c.body, c.status).problem(t); !strings.Contains(p.Message, c.word) {
				t.Errorf("%+v", p)
			}
		})
	}
	s.sends(http.MethodDelete, "/api/v1/sources/here", "", http.StatusNoContent)
	s.sends(http.MethodDelete, "/api/v1/sources/here", "", http.StatusNotFound)
}
