package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/resourcetree"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// installs adds objects to what the module lantern of a namespace has installed.
func (s *site) installs(name string, more ...v1beta2.Resource) {
	s.Helper()
	manifest := &v1beta2.Manifest{}
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: name, Name: "local-lantern"}, manifest); err != nil {
		s.Fatal(err)
	}
	manifest.Status.Synced = append(manifest.Status.Synced, more...)
	if err := s.admin.Status().Update(s.Context(), manifest); err != nil {
		s.Fatal(err)
	}
}

// nodesOf returns the nodes of a tree by kind and name.
func nodesOf(t objectTree) map[string]resourcetree.Node {
	all := map[string]resourcetree.Node{}
	for _, n := range t.Nodes {
		all[n.Kind+" "+n.Name] = n
	}
	return all
}

func TestTree_FromTheDeploymentToThePodThatFails(t *testing.T) {
	s := open(t, ModeLocal)
	s.waiting("tree")
	s.make(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tree", Name: "there"}})
	s.installs("tree",
		v1beta2.Resource{Version: "v1", Kind: "ConfigMap", Namespace: "tree", Name: "there", Hash: "x"},
		v1beta2.Resource{Version: "v1", Kind: "ConfigMap", Namespace: "tree", Name: "gone", Hash: "x"},
		v1beta2.Resource{Version: "v1", Kind: "ConfigMap", Namespace: "tree", Name: "planned"},
		v1beta2.Resource{Version: "v1", Kind: "Namespace", Name: "tree", Hash: "x"},
		v1beta2.Resource{Group: "undefined.example.com", Version: "v1", Kind: "Undefined", Namespace: "tree", Name: "x", Hash: "x"},
	)
	s.enter()
	var tree objectTree
	eventually(t, patience, "the tree has what the Manifest lists", func() bool {
		tree = get[objectTree](s, "/api/v1/modules/tree/local/lantern/tree")
		return len(tree.Nodes) == 8
	})
	all := nodesOf(tree)
	pod := all["Pod lantern-1-x"]
	if pod.Reason != "ImageNotFound" || pod.State != modulestatus.Error || pod.Parent != "ReplicaSet.apps/tree/lantern-1" || pod.Remedy == "" ||
		all["ReplicaSet lantern-1"].Parent != "Deployment.apps/tree/lantern" || all["Deployment lantern"].Worst != modulestatus.Error {
		t.Errorf("%+v", tree.Nodes)
	}
	for name, want := range map[string]resourcetree.Presence{
		"ConfigMap there": resourcetree.Present, "ConfigMap gone": resourcetree.Missing, "ConfigMap planned": resourcetree.Planned,
		"Namespace tree": resourcetree.Present, "Undefined x": resourcetree.Missing,
	} {
		if n := all[name]; n.Presence != want || n.Origin != resourcetree.Applied {
			t.Errorf("%s: %+v, want %s", name, n, want)
		}
	}
	if n := all["Undefined x"]; !strings.Contains(n.Message, "its definition is gone") || all["ConfigMap gone"].Reason != modulestatus.WhyMissing {
		t.Errorf("%+v", n)
	}
	if tree.Total != 8 || len(tree.Cuts) != 0 || len(tree.Unread) != 0 {
		t.Errorf("%d, cut %v, unread %v", tree.Total, tree.Cuts, tree.Unread)
	}
}

// may gives the user of a token more rights in a namespace.
func (s *site) may(name, where string, rules ...rbacv1.PolicyRule) {
	s.Helper()
	s.make(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: name + "-more"}, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: name + "-more"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name + "-more"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
		})
	apiserver.Allowed(s, s.admin, "system:serviceaccount:default:"+name, where, rules[len(rules)-1])
}

func TestTree_EachUserSeesWhatTheirRightsAllow(t *testing.T) {
	s := open(t, ModeCluster)
	s.waiting("partly")
	read := []string{"get", "list"}
	for _, test := range []struct {
		user  string
		rules []rbacv1.PolicyRule
		want  map[string]resourcetree.Presence
		told  []string
	}{
		{"tree-nothing", nil, map[string]resourcetree.Presence{"Deployment lantern": resourcetree.Unread}, []string{"Deployment.apps"}},
		{"tree-some", []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: read}, {APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: read},
		}, map[string]resourcetree.Presence{"Deployment lantern": resourcetree.Present}, []string{"ReplicaSet.apps"}},
		{"tree-all", []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments", "replicasets"}, Verbs: read}, {APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: read},
		}, map[string]resourcetree.Presence{
			"Deployment lantern": resourcetree.Present, "ReplicaSet lantern-1": resourcetree.Present, "Pod lantern-1-x": resourcetree.Present,
		}, nil},
	} {
		t.Run(test.user, func(t *testing.T) {
			s.T = t
			s.browser()
			token := s.token(test.user, "partly")
			if test.rules != nil {
				s.may(test.user, "partly", test.rules...)
			}
			s.enterAs(token)
			tree := get[objectTree](s, "/api/v1/modules/partly/local/lantern/tree")
			all := nodesOf(tree)
			for name, want := range test.want {
				if all[name].Presence != want {
					t.Errorf("%s: %+v, want %s", name, all[name], want)
				}
			}
			var told []string
			for _, u := range tree.Unread {
				told = append(told, u.Kind)
			}
			if strings.Join(told, " ") != strings.Join(test.told, " ") {
				t.Errorf("unread: %v, want %v", tree.Unread, test.told)
			}
		})
	}
}

const lantern = "/api/v1/modules/%/local/lantern/object?"

func ofLantern(namespace, query string) string {
	return strings.Replace(lantern, "%", namespace, 1) + query
}

func TestObject_OfASecretNoValueIsSent(t *testing.T) {
	s := open(t, ModeLocal)
	s.waiting("secrets")
	const password = "correct-horse-battery"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "secrets", Name: "s", Annotations: map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": `{"kind":"Secret","stringData":{"password":"` + password + `"}}`,
	}}, StringData: map[string]string{"password": password, "pin": "42"}}
	s.make(secret, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "secrets", Name: "e"},
		InvolvedObject: corev1.ObjectReference{Kind: "Secret", Namespace: "secrets", Name: "s", UID: secret.UID},
		Reason:         "Rotated", Message: "the password was " + password, Type: "Normal",
	})
	s.enter()
	query := "kind=Secret&namespace=secrets&name=s"
	r := s.do(http.MethodGet, ofLantern("secrets", query+"&wanted=true&managedFields=true"), "")
	if text := string(r.body); r.status != http.StatusOK || strings.Contains(text, password) || strings.Contains(text, "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5") {
		t.Fatalf("status %d: %s", r.status, text)
	}
	var d objectDetail
	if err := json.Unmarshal(r.body, &d); err != nil {
		t.Fatal(err)
	}
	data, _ := d.Live["data"].(map[string]any)
	if data["password"] != "(hidden, 21 bytes)" || data["pin"] != "(hidden, 2 bytes)" || len(d.Events) != 1 || len(d.Notes) == 0 || d.Resource != "secrets" {
		t.Errorf("%+v", d)
	}
	if d.Wanted == nil || d.Wanted.State != reviewNone || d.Wanted.Note == "" {
		t.Errorf("%+v", d.Wanted)
	}
}

func TestObject_ThePodAndItsContainers(t *testing.T) {
	s := open(t, ModeLocal)
	s.waiting("onepod")
	s.enter()
	d := get[objectDetail](s, ofLantern("onepod", "kind=Pod&namespace=onepod&name=lantern-1-x"))
	if len(d.Containers) != 1 || d.Containers[0].Reason != "ErrImagePull" || len(d.Owners) != 1 || d.Owners[0].Kind != "ReplicaSet" ||
		d.Presence != resourcetree.Present || d.State == modulestatus.Ready || d.Wanted != nil {
		t.Errorf("%+v", d)
	}
	if err := s.admin.Delete(s.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "onepod", Name: "lantern-1-x"}}, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, "it is told that the pod is gone", func() bool {
		d = get[objectDetail](s, ofLantern("onepod", "kind=Pod&namespace=onepod&name=lantern-1-x"))
		return d.Presence == resourcetree.Missing && d.Live == nil && d.Message == "it does not exist"
	})
}

func TestObject_TheAddressLeadsNowhereElse(t *testing.T) {
	s := open(t, ModeLocal)
	s.waiting("address")
	s.enter()
	for name, test := range map[string]struct {
		query  string
		status int
	}{
		"no kind":                             {"name=x", http.StatusBadRequest},
		"a path as a name":                    {"kind=Pod&namespace=address&name=../../secrets", http.StatusBadRequest},
		"a path as a namespace":               {"kind=Pod&namespace=a%2Fb&name=x", http.StatusBadRequest},
		"dots as a name":                      {"kind=Pod&namespace=address&name=..", http.StatusBadRequest},
		"a path as a version":                 {"apiVersion=a%2Fb%2Fc&kind=Pod&namespace=address&name=x", http.StatusBadRequest},
		"a cluster-scoped one in a namespace": {"kind=Namespace&namespace=address&name=address", http.StatusBadRequest},
		"one of a namespace without it":       {"kind=Pod&name=x", http.StatusBadRequest},
		"an unknown parameter":                {"kind=Pod&namespace=address&name=x&path=y", http.StatusBadRequest},
		"a cluster-scoped one":                {"kind=Namespace&name=address", http.StatusOK},
		"a kind that is not served":           {"apiVersion=undefined.example.com/v1&kind=Undefined&namespace=address&name=x", http.StatusOK},
	} {
		if r := s.do(http.MethodGet, ofLantern("address", test.query), ""); r.status != test.status {
			t.Errorf("%s: status %d, %s", name, r.status, r.body)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/direct/nowhere/object?kind=Namespace&name=default", ""); r.status != http.StatusNotFound {
		t.Errorf("an object of a module that there is not: %d", r.status)
	}
}

func TestObject_WhoMayNotReadItIsToldSo(t *testing.T) {
	s := open(t, ModeCluster)
	s.waiting("closed")
	s.enterAs(s.token("object-closed", "closed"))
	d := get[objectDetail](s, ofLantern("closed", "apiVersion=apps/v1&kind=Deployment&namespace=closed&name=lantern&wanted=true"))
	if d.Presence != resourcetree.Unread || d.Live != nil || !strings.HasPrefix(d.Message, "you may not read Deployment") || len(d.Events) != 0 {
		t.Errorf("%+v", d)
	}
	r := s.do(http.MethodGet, "/api/v1/modules/closed/local/lantern/logs?namespace=closed&pod=lantern-1-x&container=manager", "")
	if p := r.problem(t); r.status != http.StatusForbidden || !strings.Contains(p.Message, "you may not read logs in namespace closed") {
		t.Errorf("status %d: %s", r.status, p.Message)
	}
}
