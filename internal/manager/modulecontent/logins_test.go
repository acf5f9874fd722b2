package modulecontent

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// stranger starts a server of a Manifest's author, which counts the requests and logins that it receives.
func stranger(t *testing.T) (host string, asked, logins *atomic.Int32) {
	t.Helper()
	asked, logins = &atomic.Int32{}, &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "" {
			logins.Add(1)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="tell me"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), asked, logins
}

// password returns a Secret with a user name and a password for the given hosts.
func password(name, hosts string) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: name, Labels: map[string]string{"login": "login"}},
		Type:       corev1.SecretTypeBasicAuth,
		Data:       map[string][]byte{corev1.BasicAuthUsernameKey: []byte("ada"), corev1.BasicAuthPasswordKey: []byte("s3cret")},
	}
	if hosts != "" {
		secret.Annotations = map[string]string{v1beta2.AnnotationLoginHosts: hosts}
	}
	return secret
}

// TestLogins_APasswordGoesOnlyWhereItsSecretSays covers authors of Manifests, who select Secrets by labels without access to their content,
// and choose the host.
func TestLogins_APasswordGoesOnlyWhereItsSecretSays(t *testing.T) {
	const unsaid, refused = "does not name", content.ReasonRegistryUnauthorized
	for title, test := range map[string]struct {
		hosts []string // of each Secret; HOST is the server
		sent  bool
		asked bool
		told  string
	}{
		"it names none":                           {[]string{""}, false, false, unsaid},
		"it names another":                        {[]string{"git.example.com"}, false, true, ""},
		"it names the host on another port":       {[]string{"127.0.0.1, 127.0.0.1:1"}, false, true, ""},
		"it names the host":                       {[]string{"git.example.com, HOST"}, true, true, ""},
		"it names the host, one host per line":    {[]string{"git.example.com\nHOST\n"}, true, true, ""},
		"one names the host, and another none":    {[]string{"", "HOST"}, true, true, ""},
		"one names another, and another none":     {[]string{"", "git.example.com"}, false, false, unsaid},
		"it names a URL instead of a host":        {[]string{"http://HOST/path"}, false, false, "no host"},
		"it names every host":                     {[]string{"*"}, false, false, "no host"},
		"it has nothing between the commas":       {[]string{" , "}, false, false, unsaid},
		"the one that names the host comes first": {[]string{"HOST", "git.example.com"}, true, true, ""},
	} {
		for place, source := range map[string]string{
			"chart":          `{"url": "http://HOST/charts", "chartName": "c", SELECTOR}`,
			"file":           `{"http": {"url": "http://HOST/a.tgz", "sha256": "` + strings.Repeat("0", 64) + `"}, SELECTOR}`,
			"git":            `{"git": {"url": "http://HOST/team/x.git", "ref": {"branch": "main"}}, SELECTOR}`,
			"kustomize":      `{"url": "http://HOST/team/x.git", "version": "v1", "type": "kustomize", SELECTOR}`,
			"git, with a .p": `{"git": {"url": "http://HOST/team/x.git", "ref": {"tag": "v1"}}, "path": "p", SELECTOR}`,
		} {
			t.Run(title+"/"+place, func(t *testing.T) {
				host, asked, logins := stranger(t)
				f := startRegistry(t)
				var secrets []client.Object
				for i, hosts := range test.hosts {
					secrets = append(secrets, password("login-"+string(rune('a'+i)), strings.ReplaceAll(hosts, "HOST", host)))
				}
				objects := f.objects(t, secrets...)
				objects.Policy = func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }
				m := manifestOf(strings.NewReplacer("HOST", host, "SELECTOR", `"credSecretSelector": {"matchLabels": {"login": "login"}}`).Replace(source))
				_, err := objects.Read(t.Context(), m, anyCluster)
				if content.ReasonOf(err) != refused || !strings.Contains(err.Error(), test.told) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("error %v, want one that says %q", err, test.told)
				}
				if (logins.Load() > 0) != test.sent || (asked.Load() > 0) != test.asked {
					t.Errorf("%d requests, %d with the password; error %v", asked.Load(), logins.Load(), err)
				}
			})
		}
	}
}

// TestLogins_AManifestDoesNotTurnOffTLSForLogins covers http:// in a Manifest: its author does not own the login.
func TestLogins_AManifestDoesNotTurnOffTLSForLogins(t *testing.T) {
	for title, test := range map[string]struct {
		source string
		policy content.HostPolicy
		sent   bool
	}{
		"a layer":                          {`{"repo": "http://HOST/x", "name": "y", "ref": "REF", SELECTOR}`, content.HostPolicy{}, false},
		"an image":                         {`{"image": "http://HOST/x/y:1", SELECTOR}`, content.HostPolicy{}, false},
		"a layer, by the registries file":  {`{"repo": "http://HOST/x", "name": "y", "ref": "REF", SELECTOR}`, content.HostPolicy{PlainHTTP: true}, true},
		"an image, by the registries file": {`{"image": "http://HOST/x/y:1", SELECTOR}`, content.HostPolicy{PlainHTTP: true}, true},
	} {
		t.Run(title, func(t *testing.T) {
			host, asked, logins := stranger(t)
			f := startRegistry(t)
			objects := f.objects(t, login("login", `{"auths":{"`+host+`":{"username":"ada","password":"s3cret"}}}`))
			objects.OCI.PlainHTTP = nil
			objects.Policy = func(string) content.HostPolicy { return test.policy }
			objects.OCI.Policy = objects.Policy
			m := manifestOf(strings.NewReplacer("HOST", host, "REF", "sha256:"+strings.Repeat("0", 64),
				"SELECTOR", `"credSecretSelector": {"matchLabels": {"login": "login"}}`).Replace(test.source))
			_, err := objects.Read(t.Context(), m, noCluster)
			if content.ReasonOf(err) != content.ReasonRegistryUnauthorized || asked.Load() == 0 || (logins.Load() > 0) != test.sent {
				t.Errorf("%d requests, %d with the login; error %v", asked.Load(), logins.Load(), err)
			}
			if told := strings.Contains(err.Error(), "not sent in the clear"); told == test.sent {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestLogins_WhichLoginIsForAnAddress(t *testing.T) {
	key := func(name, hosts string) *corev1.Secret {
		secret := password(name, hosts)
		secret.Type = corev1.SecretTypeSSHAuth
		secret.Data = map[string][]byte{corev1.SSHAuthPrivateKey: []byte("key of " + name), knownHosts: []byte("git.example.com ssh-ed25519 AAAA")}
		return secret
	}
	web, ssh := Login{Username: "ada", Password: "s3cret"}, Login{SSHKey: "key of k", KnownHosts: "git.example.com ssh-ed25519 AAAA"}
	both := Login{web.Username, web.Password, ssh.SSHKey, ssh.KnownHosts}
	for title, test := range map[string]struct {
		secrets []*corev1.Secret
		address string
		want    Login
		told    string
	}{
		"the annotation names the default port of https": {[]*corev1.Secret{password("p", "git.example.com:443")}, "https://git.example.com/x", web, ""},
		"the address names the default port of https":    {[]*corev1.Secret{password("p", "git.example.com")}, "https://GIT.example.com:443/x", web, ""},
		"another port is another server":                 {[]*corev1.Secret{password("p", "git.example.com")}, "https://git.example.com:8443/x", Login{}, ""},
		"a subdomain is another host":                    {[]*corev1.Secret{password("p", "example.com")}, "https://git.example.com/x", Login{}, ""},
		"a host that only has the same prefix":           {[]*corev1.Secret{password("p", "git.example.com")}, "https://git.example.com.evil.example/x", Login{}, ""},
		"an address of IPv6":                             {[]*corev1.Secret{password("p", "[2001:db8::1]:8443, [2001:db8::2]")}, "https://[2001:db8::2]/x", web, ""},
		"an SSH key goes where its known hosts lead":     {[]*corev1.Secret{key("k", "")}, "ssh://git@git.example.com/x", ssh, ""},
		"an SSH key for this host":                       {[]*corev1.Secret{key("k", "git.example.com:22")}, "ssh://git@git.example.com/x", ssh, ""},
		"an SSH key for another host":                    {[]*corev1.Secret{key("k", "other.example.com")}, "ssh://git@git.example.com/x", Login{}, ""},
		"an SSH key and its passphrase":                  {[]*corev1.Secret{key("k", ""), password("p", "git.example.com")}, "ssh://git@git.example.com/x", both, ""},
		"an SSH key, and a password without hosts":       {[]*corev1.Secret{key("k", ""), password("p", "")}, "ssh://git@git.example.com/x", ssh, ""},
		"an SSH key is no password for https":            {[]*corev1.Secret{key("k", ""), password("p", "")}, "https://git.example.com/x", Login{}, "kcp-system/p does not name"},
		"nothing is selected":                            {nil, "https://git.example.com/x", Login{}, ""},
	} {
		t.Run(title, func(t *testing.T) {
			var logins Logins
			for _, secret := range test.secrets {
				if err := logins.add(secret, nil); err != nil {
					t.Fatal(err)
				}
			}
			address, err := url.Parse(test.address)
			if err != nil {
				t.Fatal(err)
			}
			got, err := logins.For(address)
			if got != test.want || (err != nil) != (test.told != "") || err != nil && !strings.Contains(err.Error(), test.told) {
				t.Errorf("%+v, error %v; want %+v, %q", got, err, test.want, test.told)
			}
		})
	}
}
