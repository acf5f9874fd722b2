package setup

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
)

func TestRegistries_TheRegistrySecretNamesTheRegistry(t *testing.T) {
	for name, test := range map[string]struct {
		config     string
		host, fail string
	}{
		"one registry is taken":         {`{"auths":{"registry.example.com":{"username":"u","password":"s3cret"}}}`, "registry.example.com", ""},
		"two registries are refused":    {`{"auths":{"a.example.com":{},"b.example.com":{}}}`, "", "names 2 registries"},
		"none is refused":               {`{"auths":{}}`, "", "names 0 registries"},
		"an address that is not a host": {`{"auths":{"https://index.docker.io/v1/":{}}}`, "", "exactly one host"},
		"an invalid docker config":      {`s3cret`, "", "no docker config"},
	} {
		t.Run(name, func(t *testing.T) {
			c := sound()
			c.RegistryHost, c.RegistrySecret = "", "login"
			r := &registries{config: &c}
			if err := r.start(t.Context(), clientfake.NewClientBuilder().WithObjects(loginSecret(test.config)).Build()); err != nil {
				t.Fatal(err)
			}
			if test.fail == "" {
				if host, _ := r.where(); host != test.host {
					t.Fatalf("host %q", host)
				}
				if got, err := r.credentials(t.Context(), test.host); err != nil || got.Username != "u" || got.Password != "s3cret" {
					t.Errorf("login of %q, error %v", got.Username, err)
				}
				if got, err := r.credentials(t.Context(), "elsewhere.example.com"); err != nil || got.Password != "" {
					t.Errorf("another registry gets the login of %q, error %v", got.Username, err)
				}
				return
			}
			_, err := r.credentials(t.Context(), test.host)
			if err == nil || !strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want one that says %q and no credential", err, test.fail)
			}
		})
	}
}

func TestRegistries_AMissingRegistrySecretIsToldAndWaitedFor(t *testing.T) {
	c := sound()
	c.RegistryHost, c.RegistrySecret = "", "login"
	r := &registries{config: &c, file: &policy.RegistryFile{}}
	if err := r.start(t.Context(), clientfake.NewClientBuilder().Build()); err != nil {
		t.Fatalf("the manager does not start: %v", err)
	}
	components := newComponents(func() *modulecontent.Components { return modulecontent.NewComponents(r.components()) })
	key := module.ComponentKey{Name: "example.com/module/sample", Version: "1.0.0"}
	found := described(t, components, key)
	if found.Reason != v1beta2.ReasonRegistryUnauthorized || !strings.Contains(found.Message, "kcp-system/login") {
		t.Errorf("a module says %s: %s", found.Reason, found.Message)
	}
	changed, moved, err := r.take(loginSecret(`{"auths":{"127.0.0.1:1":{"username":"u","password":"p"}}}`))
	if !changed || !moved || err != nil {
		t.Errorf("once it is there: changed %t, moved %t, error %v", changed, moved, err)
	}
	components.renew()
	if found := described(t, components, key); found.Reason != v1beta2.ReasonRegistryUnreachable {
		t.Errorf("once it is there a module says %s: %s", found.Reason, found.Message)
	}
}

// described waits until the registry has answered.
func described(t *testing.T, components *componentsPort, key module.ComponentKey) module.Component {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(50 * time.Millisecond) {
		if found, _ := components.Describe(t.Context(), key); !found.Pending || time.Now().After(deadline) {
			return found
		}
	}
}

func TestRegistries_ARegistrySecretThatCannotBeReadEndsTheStart(t *testing.T) {
	c := sound()
	c.RegistryHost, c.RegistrySecret = "", "login"
	refuses := clientfake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("no such right")
		},
	}).Build()
	err := (&registries{config: &c}).start(t.Context(), refuses)
	if err == nil || !strings.Contains(err.Error(), "kcp-system/login") {
		t.Errorf("error %v", err)
	}
}

func TestRegistries_TheFlagNamesTheRegistry(t *testing.T) {
	c := sound()
	c.RegistryHost = "http://registry.example.com:5000"
	r := &registries{config: &c}
	if err := r.start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if host, plain := r.where(); host != "registry.example.com:5000" || !plain {
		t.Errorf("host %q, plain HTTP %v", host, plain)
	}
	if got, err := r.credentials(t.Context(), "registry.example.com:5000"); err != nil || got.Username != "" {
		t.Errorf("login of %q, error %v", got.Username, err)
	}
}

func TestRegistries_AChangedRegistrySecretCountsAtOnce(t *testing.T) {
	login := func(host, password string) *corev1.Secret {
		return loginSecret(`{"auths":{"` + host + `":{"username":"u","password":"` + password + `"}}}`)
	}
	for name, test := range map[string]struct {
		secret         *corev1.Secret
		changed, moved bool
		fail           string
		host, password string
	}{
		"the same is no change":                       {login("a.example.com", "one"), false, false, "", "a.example.com", "one"},
		"another password is used":                    {login("a.example.com", "two"), true, false, "", "a.example.com", "two"},
		"another registry is used":                    {login("b.example.com", "two"), true, true, "", "b.example.com", "two"},
		"a missing one leaves the host and no login":  {nil, true, false, "does not exist", "a.example.com", ""},
		"an invalid one leaves the host and no login": {loginSecret("s3cret"), true, false, "no docker config", "a.example.com", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := sound()
			c.RegistryHost, c.RegistrySecret = "", "login"
			r := &registries{config: &c}
			if err := r.start(t.Context(), clientfake.NewClientBuilder().WithObjects(login("a.example.com", "one")).Build()); err != nil {
				t.Fatal(err)
			}
			changed, moved, err := r.take(test.secret)
			if changed != test.changed || moved != test.moved {
				t.Errorf("changed %v, moved %v", changed, moved)
			}
			if again, _, _ := r.take(test.secret); again {
				t.Error("the same counts as a change twice")
			}
			host, _ := r.where()
			got, refused := r.credentials(t.Context(), test.host)
			if host != test.host || got.Password != test.password {
				t.Errorf("host %q, password %q", host, got.Password)
			}
			for _, err := range []error{err, refused} {
				if (err != nil) != (test.fail != "") || err != nil && (!strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), "s3cret")) {
					t.Errorf("error %v", err)
				}
			}
			if changed, _, err := r.take(login("a.example.com", "three")); !changed || err != nil {
				t.Errorf("a better one: changed %v, error %v", changed, err)
			}
			if got, err := r.credentials(t.Context(), "a.example.com"); err != nil || got.Password != "three" {
				t.Errorf("after a better one: password %q, error %v", got.Password, err)
			}
		})
	}
}

func loginSecret(config string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "login"},
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)},
	}
}
