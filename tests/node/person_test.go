package node

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// person is a user with a browser and a token.
type person struct {
	name, token string
	browser     *http.Client
}

// newPerson returns a ServiceAccount with the given rights, none where there are no rules.
func newPerson(name string, rules ...rbacv1.PolicyRule) *person {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name}}
	Expect(hub.client.Create(background(), account)).To(Succeed())
	if len(rules) > 0 {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: people + "-" + name}, Rules: rules}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}},
		}
		Expect(hub.client.Create(background(), role)).To(Succeed())
		Expect(hub.client.Create(background(), binding)).To(Succeed())
		DeferCleanup(func() {
			Expect(hub.client.Delete(background(), binding)).To(Succeed())
			Expect(hub.client.Delete(background(), role)).To(Succeed())
		})
	}
	request := &authenticationv1.TokenRequest{}
	Expect(hub.client.SubResource("token").Create(background(), account, request)).To(Succeed())
	p := &person{name: "system:serviceaccount:" + people + ":" + name, token: request.Status.Token}
	p.leave()
	return p
}

// leave forgets who is logged in, as another browser does.
func (p *person) leave() {
	GinkgoHelper()
	jar, err := cookiejar.New(nil)
	Expect(err).NotTo(HaveOccurred())
	// The certificate is the dashboard's own, which no one trusts: kubectl has looked whom it speaks to.
	p.browser = &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

// answered is what a browser gets.
type answered struct {
	Status int
	Header http.Header
	Text   string
}

// reason returns that of an error.
func (a answered) reason() string {
	var body struct {
		Error struct {
			Reason string `json:"reason"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(a.Text), &body) // what is no JSON has no reason
	return body.Error.Reason
}

// ask sends one request through the tunnel, as the page of the dashboard would.
func (p *person) ask(method, path string, body any) (answered, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answered{}, err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(background(), method, way.address+path, sent)
	if err != nil {
		return answered{}, err
	}
	request.Header.Set("Origin", way.address)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := p.browser.Do(request)
	if err != nil {
		return answered{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answered{response.StatusCode, response.Header, string(text)}, err
}

// get reads a page or an answer of the API, which must be there.
func (p *person) get(path string, into any) {
	GinkgoHelper()
	got, err := p.ask(http.MethodGet, path, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(got.Status).To(Equal(http.StatusOK), got.Text)
	Expect(json.Unmarshal([]byte(got.Text), into)).To(Succeed(), got.Text)
}

// post sends what must be answered with a status.
func (p *person) post(path string, body any, status int) answered {
	GinkgoHelper()
	got, err := p.ask(http.MethodPost, path, body)
	Expect(err).NotTo(HaveOccurred())
	Expect(got.Status).To(Equal(status), got.Text)
	return got
}

// enter pastes the token.
func (p *person) enter() {
	GinkgoHelper()
	p.post("/api/v1/session", map[string]string{"token": p.token}, http.StatusOK)
}

// cookies returns what the browser keeps.
func (p *person) cookies() []*http.Cookie {
	GinkgoHelper()
	address, err := url.Parse(way.address)
	Expect(err).NotTo(HaveOccurred())
	return p.browser.Jar.Cookies(address)
}

// listing is what a list of Kymas says: the names, and what could not be read.
type listing struct {
	Items  string
	Unread []string
}

func (p *person) listed() (is listing) {
	GinkgoHelper()
	var list struct {
		Items  []struct{ Namespace, Name string }
		Unread []struct{ Kind, Reason string }
	}
	p.get("/api/v1/kymas", &list)
	var names []string
	for _, kyma := range list.Items {
		names = append(names, kyma.Namespace+"/"+kyma.Name)
	}
	is.Items = strings.Join(names, " ")
	for _, unread := range list.Unread {
		is.Unread = append(is.Unread, unread.Kind+" "+unread.Reason)
	}
	return is
}

// start begins an operation and gives its name.
func (p *person) start(deed operations.Request) string {
	GinkgoHelper()
	got := p.post("/api/v1/operations", deed, http.StatusAccepted)
	var begun operations.Operation
	Expect(json.Unmarshal([]byte(got.Text), &begun)).To(Succeed())
	Expect(begun.User).To(Equal(p.name))
	return begun.ID
}

// awaits waits until the list has an operation in a state.
func (p *person) awaits(id string, state operations.State) {
	GinkgoHelper()
	Eventually(func(g Gomega) map[string]operations.State {
		got, err := p.ask(http.MethodGet, "/api/v1/operations", nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Status).To(Equal(http.StatusOK), got.Text)
		var list struct {
			Items []operations.Operation `json:"items"`
		}
		g.Expect(json.Unmarshal([]byte(got.Text), &list)).To(Succeed(), got.Text)
		found := map[string]operations.State{}
		for i := range list.Items {
			found[list.Items[i].ID] = list.Items[i].State
		}
		return found
	}).Should(HaveKeyWithValue(id, state))
	stepf("operation %s is %s", id, state)
}
