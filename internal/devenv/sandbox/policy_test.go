package sandbox

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

func pemOf(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func TestPolicy_WhoIsHeldToWhat(t *testing.T) {
	trusted, samples := pemOf(t), len(playground.Components())
	for name, tc := range map[string]struct {
		policy Policy
		rules  int
		last   string
	}{
		"nothing is required":                                         {Policy{}, 0, ""},
		"off requires nothing, with any trust":                        {Policy{Level: "off", Trust: [][]byte{trusted}}, 0, ""},
		"all must be signed, the samples with the key of the sandbox": {Policy{Level: "enforce", Trust: [][]byte{trusted}}, samples + 1, ".*"},
		"only those of the author": {
			Policy{Level: "warn", Components: "example.com/.*", Trust: [][]byte{trusted}}, 1, "example.com/.*",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := tc.policy.rules("key of the samples")
			if err != nil || len(rules) != tc.rules {
				t.Fatalf("%d rules, %v; want %d", len(rules), err, tc.rules)
			}
			if tc.rules == 0 {
				return
			}
			last := rules[len(rules)-1]
			if last.Components != tc.last || last.Require != tc.policy.Level || len(last.PublicKeys) != 1 {
				t.Errorf("the last rule is %+v", last)
			}
			for _, rule := range rules[:len(rules)-1] {
				if rule.PublicKeys[0] != "key of the samples" {
					t.Errorf("a sample is held to %+v", rule)
				}
			}
		})
	}
}

func TestPoliciesThatMakeNoSense(t *testing.T) {
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret")})
	for name, tc := range map[string]struct {
		policy Policy
		want   string
	}{
		"a level that there is not":         {Policy{Level: "maybe"}, "use one of off, audit, enforce"},
		"no key is trusted":                 {Policy{Level: "enforce"}, "no key is trusted"},
		"a pattern that is none":            {Policy{Components: "("}, "is not a regular expression"},
		"a private key, which is not shown": {Policy{Level: "warn", Trust: [][]byte{private}}, `holds a "PRIVATE KEY"`},
		"something that is not a key":       {Policy{Level: "warn", Trust: [][]byte{[]byte("hello")}}, "is not in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.policy.Check(); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Check() = %v, want %q", err, tc.want)
			}
		})
	}
}
