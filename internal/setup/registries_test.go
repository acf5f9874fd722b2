package setup

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestTheRegistrySecretNamesTheRegistry(t *testing.T) {
	for name, test := range map[string]struct {
		config     string
		host, fail string
	}{
		"one registry is taken":       {`{"auths":{"registry.example.com":{"username":"u","password":"s3cret"}}}`, "registry.example.com", ""},
		"two registries are refused":  {`{"auths":{"a.example.com":{},"b.example.com":{}}}`, "", "names 2 registries"},
		"none is refused":             {`{"auths":{}}`, "", "names 0 registries"},
		"an address that is no host":  {`{"auths":{"https://index.docker.io/v1/":{}}}`, "", "exactly one host"},
		"what is no docker config is": {`s3cret`, "", "no docker config"},
	} {
		t.Run(name, func(t *testing.T) {
			c := sound()
			c.RegistryHost, c.RegistrySecret = "", "login"
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: c.OperatorNamespace, Name: "login"},
				Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(test.config)},
			}
			reader := clientfake.NewClientBuilder().WithObjects(secret).Build()
			err := useRegistrySecret(t.Context(), reader, &c)
			if test.fail == "" {
				if err != nil || c.RegistryHost != test.host {
					t.Fatalf("host %q, error %v", c.RegistryHost, err)
				}
				r := &registries{config: &c, reader: reader}
				if got, err := r.credentials(t.Context(), test.host); err != nil || got.Username != "u" || got.Password != "s3cret" {
					t.Errorf("login of %q, error %v", got.Username, err)
				}
				if got, err := r.credentials(t.Context(), "elsewhere.example.com"); err != nil || got.Password != "" {
					t.Errorf("another registry gets the login of %q, error %v", got.Username, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want one that says %q and no credential", err, test.fail)
			}
		})
	}
}

func TestAMissingRegistrySecretIsNamed(t *testing.T) {
	c := sound()
	c.RegistryHost, c.RegistrySecret = "", "login"
	err := useRegistrySecret(t.Context(), clientfake.NewClientBuilder().Build(), &c)
	if err == nil || !strings.Contains(err.Error(), "kcp-system/login") {
		t.Errorf("error %v", err)
	}
}
