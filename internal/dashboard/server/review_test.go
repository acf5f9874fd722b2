package server

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// unreached lets a dashboard read versions from a registry that does not answer.
func unreached(o *Options) {
	o.Contents = func(hub versioncontent.Place) *versioncontent.Loader {
		return &versioncontent.Loader{Registry: "http://127.0.0.1:1", Hub: hub, Timeout: 20 * time.Second}
	}
}

// until reads an answer until a state is reached.
func until[T any](s *site, path string, over func(T) bool) T {
	s.Helper()
	var is T
	eventually(s.T, time.Minute, path, func() bool {
		r := s.do(http.MethodGet, path, "")
		if r.status != http.StatusOK {
			return false
		}
		is = *new(T)
		if err := json.Unmarshal(r.body, &is); err != nil {
			s.Fatal(err)
		}
		return over(is)
	})
	return is
}

func isRead(is versionReview) bool { return is.State != reviewReading }

// bundle is the content of a version of a module: with a Secret, and in the later one with the right to read all Secrets.
func bundle(version, token string) string {
	text := `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"kiosk","name":"login"},"stringData":{"token":"` + token + `"}}
---
{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"kiosk","name":"kiosk"}}
---
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"kiosk","name":"kiosk"},"spec":{"template":{"spec":{
  "containers":[{"name":"main","image":"example.com/kiosk:` + version + `","env":[{"name":"COPY","value":"` + token + `"}]}]}}}}
`
	if version == "1.0.0" {
		return text
	}
	return text + `---
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"kiosk"},"rules":[
  {"apiGroups":[""],"resources":["secrets"],"verbs":["get","list"]}]}
---
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"kiosk"},"roleRef":{
  "apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"kiosk"},"subjects":[{"kind":"ServiceAccount","namespace":"kiosk","name":"kiosk"}]}
`
}

// kiosk creates a module without a release, in two versions whose links lead to a server.
func (s *site) kiosk(namespaceName, base string) {
	s.Helper()
	s.make(namespace(namespaceName))
	for _, version := range []string{"1.0.0", "1.1.0"} {
		template := s.template(namespaceName, "kiosk", version).(*v1beta2.ModuleTemplate)
		template.Spec.Resources = []v1beta2.Named{{Name: "rawManifest", Link: base + "/" + version}}
		s.make(template)
	}
}

func TestReview_SaysWhatIsNewAndNeverWhatASecretHolds(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := strings.TrimPrefix(r.URL.Path, "/")
		_, _ = w.Write([]byte(bundle(version, "token-of-"+version)))
	}))
	t.Cleanup(server.Close)
	s := open(t, ModeLocal, func(o *Options) {
		o.linkCA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	})
	s.kiosk("asks", server.URL)
	s.enter()
	is := until(s, "/api/v1/catalog/kiosk/review?namespace=asks&version=1.1.0&against=1.0.0", isRead)
	if is.State != reviewDone || is.Against != "1.0.0" || is.Limits != permissions.Limits || is.Changes == nil {
		t.Fatalf("%+v %+v", is, is.Problem)
	}
	added := is.Changes.Rights.Added
	if len(added) == 0 || added[0].Severity != permissions.Critical || !strings.Contains(added[0].Sentence, "Secret") || added[0].Rule == "" {
		t.Errorf("what is new: %+v", added)
	}
	if len(is.May) < len(added) || len(is.Changes.Objects.Added) != 2 || len(is.Changes.Objects.Changed) != 2 || len(is.Changes.Objects.Restarts) != 1 {
		t.Errorf("%+v", is.Changes.Objects)
	}
	first := until(s, "/api/v1/catalog/kiosk/review?namespace=asks&version=1.1.0", isRead)
	if first.Against != "" || first.Changes.From != nil || len(first.Changes.Rights.Added) == 0 {
		t.Errorf("a first installation: %+v", first)
	}
	r := s.do(http.MethodGet, "/api/v1/catalog/kiosk/review?namespace=asks&version=1.1.0&against=1.0.0", "")
	if strings.Contains(string(r.body), "token-of-") {
		t.Errorf("the value of a Secret is told: %s", r.body)
	}
}

func TestReview_WhatCannotBeReadSaysWhy(t *testing.T) {
	s := open(t, ModeLocal, unreached)
	s.createAll("unread")
	s.enter()
	is := until(s, "/api/v1/modules/unread/bad/greeter/review?version=1.1.0", isRead)
	if is.State != reviewUnreadable || is.Problem == nil || is.Problem.Message == "" || is.Problem.Remedy == "" || is.Changes != nil || is.May == nil {
		t.Errorf("%+v %+v", is, is.Problem)
	}
	if is.Version != "1.1.0" || is.Module != "greeter" {
		t.Errorf("it is about %s %s", is.Module, is.Version)
	}
	for path, status := range map[string]int{
		"/api/v1/modules/unread/bad/greeter/review?version=9.9.9":          http.StatusNotFound,
		"/api/v1/modules/unread/bad/nothing/review":                        http.StatusNotFound,
		"/api/v1/modules/unread/bad/greeter/review?nothing=1.1.0":          http.StatusBadRequest,
		"/api/v1/catalog/greeter/review?namespace=unread&against=9.9.9":    http.StatusNotFound,
		"/api/v1/catalog/nothing/review":                                   http.StatusNotFound,
		"/api/v1/releases/unread/greeter/forecast?channel=fast":            http.StatusBadRequest,
		"/api/v1/releases/unread/greeter/forecast?channel=Fast&version=1":  http.StatusBadRequest,
		"/api/v1/releases/unread/nothing/forecast?channel=fast&version=1":  http.StatusNotFound,
		"/api/v1/releases/unread/greeter/forecast?channel=fast&version=9":  http.StatusNotFound,
		"/api/v1/catalog/greeter/requirements?namespace=unread&kyma=a/b":   http.StatusNotFound,
		"/api/v1/catalog/greeter/requirements?namespace=unread&vrsion=1":   http.StatusBadRequest,
		"/api/v1/catalog/greeter/requirements?namespace=unread&version=99": http.StatusNotFound,
	} {
		if r := s.do(http.MethodGet, path, ""); r.status != status {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestReview_ADashboardWithoutRegistriesSaysSo(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("offline")
	s.enter()
	is := until(s, "/api/v1/catalog/greeter/review?namespace=offline&version=1.0.0", isRead)
	if is.State != reviewUnreadable || !strings.Contains(is.Problem.Message, "reads no versions") {
		t.Errorf("%+v %+v", is, is.Problem)
	}
}

func TestReview_InAClusterNoPrivateAddressIsAskedUnlessAllowed(t *testing.T) {
	s := open(t, ModeCluster, unreached)
	s.createAll("inside")
	s.enterAs(s.token("sees-inside", "*"))
	is := until(s, "/api/v1/catalog/greeter/review?namespace=inside&version=1.0.0", isRead)
	if is.State != reviewUnreadable || strings.Contains(is.Problem.Message, "127.0.0.1") || !strings.Contains(is.Problem.Remedy, "--allow-private-catalogs") {
		t.Errorf("%+v %+v", is, is.Problem)
	}
}

func TestForecast_TellsWhatBecomesOfTheKymasAlsoWithoutTheContent(t *testing.T) {
	s := open(t, ModeLocal, unreached)
	s.createAll("foreseen")
	s.enter()
	is := until(s, "/api/v1/releases/foreseen/beacon/forecast?channel=regular&version=1.0.0", func(f forecast) bool { return f.State != reviewReading })
	if is.State != reviewDone || is.Result == nil || is.Result.Kymas != 2 || is.Problem == nil || is.Changes != nil || len(is.Result.Unknown) == 0 {
		t.Fatalf("%+v %+v %+v", is, is.Result, is.Problem)
	}
	if total := is.Result.Count(releasepreview.Same) + is.Result.Count(releasepreview.Installs) + is.Result.Count(releasepreview.Upgrades); total != 2 {
		t.Errorf("%+v", is.Result.Groups)
	}
}

func TestForecast_WhoMayNotSeeTheReleaseIsTold(t *testing.T) {
	s := open(t, ModeCluster, unreached)
	s.createAll("hidden")
	token := s.token("sees-no-releases", "")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "no-releases"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{ownGroup}, Resources: []string{"kymas", "manifests", "moduletemplates"}, Verbs: []string{"list"}},
	}}
	s.make(role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "no-releases"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "sees-no-releases"}},
	})
	apiserver.Allowed(t, s.admin, "system:serviceaccount:default:sees-no-releases", "", role.Rules[0])
	s.enterAs(token)
	r := s.do(http.MethodGet, "/api/v1/releases/hidden/greeter/forecast?channel=fast&version=1.1.0", "")
	if r.status != http.StatusForbidden || !strings.Contains(r.problem(t).Message, "may not read the release hidden/greeter") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestTrim_BoundsEveryList(t *testing.T) {
	changes := releasepreview.Changes{}
	for range mostFindings + 1 {
		changes.Rights.Added = append(changes.Rights.Added, permissions.Finding{})
		changes.Objects.Changed = append(changes.Objects.Changed, releasepreview.ChangedObject{})
	}
	trim(&changes)
	if len(changes.Rights.Added) != mostFindings || len(changes.Objects.Changed) != mostChanges || slices.Contains([]int{0}, cap(changes.Objects.Changed)) {
		t.Errorf("%d rights and %d objects are told", len(changes.Rights.Added), len(changes.Objects.Changed))
	}
}
