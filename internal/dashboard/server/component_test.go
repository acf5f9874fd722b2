package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// asDeployed returns a connection with the rights of config/components/dashboard and no others.
func asDeployed(t *testing.T) *rest.Config {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, admin: apiserver.Client(t)}
	s.make(namespace("kcp-system"))
	for _, name := range []string{"access.yaml", "service_account.yaml"} {
		file, err := os.Open(filepath.Join("../../../config/components/dashboard", name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for documents := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
			o := &unstructured.Unstructured{}
			if documents.Decode(o) != nil {
				break
			}
			if o.Object != nil {
				s.make(o)
			}
		}
	}
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "klm-dashboard"}}
	if err := s.admin.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	user := "system:serviceaccount:kcp-system:klm-dashboard"
	read := rbacv1.PolicyRule{Verbs: []string{"watch"}, APIGroups: []string{ownGroup}, Resources: []string{"kymas"}}
	record := rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}
	apiserver.Allowed(t, s.admin, user, "", read)
	apiserver.Allowed(t, s.admin, user, "klm-dashboard", record)
	return asSomebody(config, request.Status.Token)
}

func TestComponent_TheRightsOfTheComponentAreEnoughAndNoMore(t *testing.T) {
	config := asDeployed(t)
	s := open(t, ModeCluster, func(o *Options) { o.Config = config })
	s.createAll("deployed")
	s.enterAs(s.token("sees-deployed", "*"))
	list := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=deployed")
	if list.Total != 2 || slices.ContainsFunc(list.Unread, func(u Unread) bool { return u.Kind != "Secret" && u.Kind != "Wick.example.com" }) {
		t.Errorf("%+v", list)
	}
	for _, c := range []struct {
		verb, group, resource, namespace string
		want                             bool
	}{
		{"watch", ownGroup, "kymas", "", true},
		{"patch", ownGroup, "kymas", "kcp-system", false},
		{"list", "", "secrets", "kcp-system", false},
		{"list", "", "secrets", "kyma-system", false},
		{"create", "", "configmaps", "klm-dashboard", true},
		{"list", "", "secrets", "klm-dashboard", false},
		{"get", "", "configmaps", "kcp-system", false}, // the manager's policies are there
		{"update", "", "configmaps", "kcp-system", false},
		{"create", "", "configmaps", "default", false},
		{"impersonate", "", "users", "", false},
	} {
		if is := s.server.self.may(t.Context(), c.verb, c.group, c.resource, c.namespace, ""); is != c.want {
			t.Errorf("may %s %s in %q: %v", c.verb, c.resource, c.namespace, is)
		}
	}
	s.server.watches.mutex.Lock()
	defer s.server.watches.mutex.Unlock()
	for at, h := range s.server.watches.streams {
		if _, err := h.trouble(); err != nil || at.Group == ownGroup && h.owner != s.server.self {
			t.Errorf("%s is watched by %q: %v", at.Kind, h.owner.Name, err)
		}
	}
}
