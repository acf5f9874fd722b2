package policy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

var _ manager.LeaderElectionRunnable = &SignatureFile{}

// signingKey returns a key that is generated once: that takes some time.
var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func inPEM(kind string, raw []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
}

func publicPEM(key any) string {
	raw, err := x509.MarshalPKIXPublicKey(key)
	return inPEM("PUBLIC KEY", raw, err)
}

// rules returns the text of a signatures file.
func rules(entries ...map[string]any) string {
	raw, err := json.Marshal(map[string]any{"signatures": entries})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestSignatures_TheFirstRuleThatMatchesTheWholeNameCounts(t *testing.T) {
	key := publicPEM(&signingKey().PublicKey)
	certificate, _ := newCertificate(t)
	dir := t.TempDir()
	text := rules(
		map[string]any{"components": "kyma-project.io/module/tried", "require": "off"},
		map[string]any{"components": "kyma-project.io/module/.*", "require": "enforce", "publicKeys": []string{key}, "files": []string{"more.pem"}},
		map[string]any{"components": ".*", "require": "warn", "names": []string{"a", "b"}, "certificates": []string{certificate}},
	)
	pkcs1 := inPEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&signingKey().PublicKey), nil)
	for name, data := range map[string]string{"signatures.yaml": text, "more.pem": pkcs1 + certificate} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := Signatures(filepath.Join(dir, "signatures.yaml"), logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	for component, want := range map[string]struct {
		require            descriptor.Requirement
		name               string
		keys, certificates int
	}{
		"kyma-project.io/module/tried":          {descriptor.RequireOff, descriptor.SignatureName, 0, 0},
		"kyma-project.io/module/tried-and-more": {descriptor.RequireEnforce, descriptor.SignatureName, 2, 2},
		"kyma-project.io/module/other":          {descriptor.RequireEnforce, descriptor.SignatureName, 2, 2},
		"not.kyma-project.io/module/other":      {descriptor.RequireAudit, "a", 0, 2},
		"":                                      {descriptor.RequireAudit, "a", 0, 2},
	} {
		got := file.For(component)
		if got == nil || got.Require != want.require || got.Trust.Names[0] != want.name || len(got.Trust.PublicKeys) != want.keys ||
			len(got.Trust.Certificates) != want.certificates || file.For(component) != got {
			t.Errorf("%q: %+v", component, got)
		}
	}
}

func TestSignatures_WithoutAFileNothingHasToBeSigned(t *testing.T) {
	file, err := Signatures("", logr.Discard())
	if err != nil || file.For("kyma-project.io/module/any") != nil {
		t.Errorf("error %v", err)
	}
	if _, err := Signatures(filepath.Join(t.TempDir(), "missing"), logr.Discard()); err == nil {
		t.Error("a file that is missing is taken for one that asks for nothing")
	}
}

func TestSignatures_ASignaturesFileThatIsWrongSaysWhy(t *testing.T) {
	key := publicPEM(&signingKey().PublicKey)
	certificate, _ := newCertificate(t)
	elliptical, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rule := func(changes map[string]any) string {
		entry := map[string]any{"components": ".*", "require": "enforce", "publicKeys": []string{key}}
		maps.Copy(entry, changes)
		return rules(entry)
	}
	for name, test := range map[string]struct{ text, want string }{
		"an empty file":                      {"", `"signatures: []"`},
		"several documents":                  {"signatures: []\n---\nsignatures: []\n", "several YAML documents"},
		"an unknown field":                   {rule(map[string]any{"key": "x"}), "key"},
		"no pattern":                         {rule(map[string]any{"components": ""}), "components is missing"},
		"a pattern that is none":             {rule(map[string]any{"components": "("}), "no regular expression"},
		"an invalid requirement":             {rule(map[string]any{"require": "yes"}), `require is "yes"`},
		"no requirement":                     {rule(map[string]any{"require": ""}), "off, audit or enforce"},
		"no trusted signer":                  {rule(map[string]any{"publicKeys": nil}), "no signer is trusted"},
		"an empty name":                      {rule(map[string]any{"names": []string{" "}}), "empty name"},
		"text instead of a key":              {rule(map[string]any{"publicKeys": []string{"x"}}), "publicKeys[0] contains text that is not PEM"},
		"an empty key":                       {rule(map[string]any{"publicKeys": []string{""}}), "publicKeys[0] is empty"},
		"a certificate instead of a key":     {rule(map[string]any{"publicKeys": []string{certificate}}), "write it to certificates"},
		"a key instead of a certificate":     {rule(map[string]any{"certificates": []string{key}}), "write it to publicKeys"},
		"a key on a curve that is too small": {rule(map[string]any{"publicKeys": []string{publicPEM(&elliptical.PublicKey)}}), "ECDSA key of 224 bits"},
		"more signers than keys":             {rule(map[string]any{"signers": 2}), "signers is 2"},
		"an unknown allowance":               {rule(map[string]any{"allow": []string{"all"}}), `allow has "all"`},
		"subjects without certificates":      {rule(map[string]any{"subjects": []string{"CN=a"}}), "subjects binds certificates"},
		"an invalid revoked key":             {`{"signatures": [], "revoked": ["release"]}`, `revoked[0] is "release"`},
		"a private key":                      {rule(map[string]any{"publicKeys": []string{inPEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(signingKey()), nil)}}), "private key"},
		"something else in PEM":              {rule(map[string]any{"publicKeys": []string{inPEM("X", nil, nil)}}), `"X"`},
		"a file in another folder":           {rule(map[string]any{"files": []string{"../key.pem"}}), "in the folder of this one"},
		"a missing file":                     {rule(map[string]any{"files": []string{"key.pem"}}), "cannot be read"},
		"a certificate that cannot be read":  {rule(map[string]any{"certificates": []string{inPEM("CERTIFICATE", []byte("x"), nil)}}), "cannot be read"},
		"a public key that cannot be read":   {rule(map[string]any{"publicKeys": []string{inPEM("PUBLIC KEY", []byte("x"), nil)}}), "no public key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseSignatures([]byte(test.text), func(string) ([]byte, error) { return nil, errors.New("not there") })
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "BEGIN") {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestSignatures_OtherRulesAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signatures.yaml")
	key := publicPEM(&signingKey().PublicKey)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("signatures: []")
	file, err := Signatures(path, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 10)
	file.OnChange(func() { told <- struct{}{} })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- file.Start(ctx) }()
	hear := func() {
		t.Helper()
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Fatal("no one is told")
		}
	}
	write(rules(map[string]any{"components": ".*", "require": "enforce", "publicKeys": []string{key}}))
	hear()
	if !file.For("").Enforced() {
		t.Error("the new rule is not in force")
	}
	write("signatures: [{}]")
	for file.Err() == nil {
		<-time.After(10 * time.Millisecond)
	}
	if !file.For("").Enforced() || len(told) > 0 {
		t.Error("a file that is not understood changed something")
	}
	write("signatures: []")
	hear()
	if file.For("") != nil || file.Err() != nil {
		t.Errorf("error %v", file.Err())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func FuzzSignaturesAreUnderstoodOrRefused(f *testing.F) {
	f.Add(rules(map[string]any{"components": ".*", "require": "warn", "publicKeys": []string{publicPEM(&signingKey().PublicKey)}}))
	f.Add("signatures: [{components: a, require: off}]")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseSignatures([]byte(text), func(string) ([]byte, error) { return nil, errors.New("not there") })
		for _, rule := range found.rules {
			if err != nil || rule.components == nil || rule.policy == nil || rule.policy.Asks() && len(rule.policy.Trust.PublicKeys)+len(rule.policy.Trust.Certificates) == 0 {
				t.Errorf("rule %+v, error %v", rule, err)
			}
		}
	})
}

func TestSignatures_ALineBreakLeadsToNoOtherRule(t *testing.T) {
	key := publicPEM(&signingKey().PublicKey)
	file, err := parseSignatures([]byte(rules(
		map[string]any{"components": "kyma-project.io/module/tried", "require": "off"},
		map[string]any{"components": ".*", "require": "enforce", "publicKeys": []string{key}},
	)), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := &SignatureFile{}
	found.known = file
	for _, name := range []string{"", "x\ny", "\n", "kyma-project.io/module/tried\n", "a\r\nkyma-project.io/module/tried"} {
		if policy := found.For(name); !policy.Enforced() {
			t.Errorf("%q is held to %+v", name, policy)
		}
	}
	if policy := found.For("kyma-project.io/module/tried"); policy.Asks() || !policy.Closed {
		t.Errorf("what needs no signature is no way around the other rules: %+v", policy)
	}
}

func TestSignatures_WhatNoRuleIsAboutIsRefusedAsSoonAsOneEnforces(t *testing.T) {
	key := publicPEM(&signingKey().PublicKey)
	for require, refused := range map[string]bool{"off": false, "audit": false, "warn": false, "enforce": true} {
		parsed, err := parseSignatures([]byte(rules(map[string]any{"components": "a", "require": require, "publicKeys": []string{key}})), nil)
		if err != nil {
			t.Fatal(err)
		}
		file := &SignatureFile{}
		file.known = parsed
		policy := file.For("b")
		if policy.Enforced() != refused {
			t.Errorf("%s: what no rule is about is held to %+v", require, policy)
		}
		if !refused {
			continue
		}
		if _, _, err := policy.Judge(&descriptor.Component{Name: "b"}, time.Now()); descriptor.ReasonOf(err) != descriptor.ReasonSignatureUntrusted {
			t.Errorf("error %v", err)
		}
	}
}

// TestSignatures_AKeyBelongsToTheComponentsOfItsRule checks that the signer of one module may not sign another, and that two keys of a rule
// overlap.
func TestSignatures_AKeyBelongsToTheComponentsOfItsRule(t *testing.T) {
	made := make([]*ecdsa.PrivateKey, 3)
	for i := range made {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		made[i] = key
	}
	lamps, oldLamps, doors := publicPEM(&made[0].PublicKey), publicPEM(&made[1].PublicKey), publicPEM(&made[2].PublicKey)
	parsed, err := parseSignatures([]byte(rules(
		map[string]any{"components": "example.com/lamps/.*", "require": "enforce", "publicKeys": []string{lamps, oldLamps}},
		map[string]any{"components": "example.com/.*", "require": "enforce", "publicKeys": []string{doors}},
	)), nil)
	if err != nil {
		t.Fatal(err)
	}
	file := &SignatureFile{}
	file.known = parsed
	for component, trusted := range map[string][]bool{
		"example.com/lamps/desk": {true, true, false}, "example.com/door": {false, false, true}, "example.com/lampshades": {false, false, true},
	} {
		for i, key := range made {
			if counts := slices.ContainsFunc(file.For(component).Trust.PublicKeys, key.PublicKey.Equal); counts != trusted[i] {
				t.Errorf("%s: key %d counts: %t", component, i, counts)
			}
		}
	}
}

func TestOffNeedsNoQuotes(t *testing.T) {
	found, err := parseSignatures([]byte("signatures:\n- {components: a, require: off}\n- {components: b, require: 'off'}\n"), nil)
	if err != nil || len(found.rules) != 2 || found.rules[0].policy.Require != descriptor.RequireOff {
		t.Errorf("%+v, error %v", found, err)
	}
}

func TestPoliciesThatAskForTheSameAreTheSame(t *testing.T) {
	key := publicPEM(&signingKey().PublicKey)
	text := func(changes map[string]any) string {
		entry := map[string]any{"components": ".*", "require": "enforce", "publicKeys": []string{key}}
		maps.Copy(entry, changes)
		return rules(entry)
	}
	id := func(text string) string {
		t.Helper()
		found, err := parseSignatures([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return found.rules[0].policy.ID
	}
	same := id(text(nil))
	if again := id(text(map[string]any{"components": "a|.*"})); same == "" || again != same {
		t.Errorf("%s and %s", same, again)
	}
	seen := map[string]string{same: "the first"}
	for name, changed := range map[string]string{
		"audit":        text(map[string]any{"require": "audit"}),
		"a name":       text(map[string]any{"names": []string{"other"}}),
		"an allowance": text(map[string]any{"allow": []string{"values"}}),
		"a revocation": strings.Replace(text(nil), "{", `{"revoked": ["sha256:`+strings.Repeat("0", 64)+`"], `, 1),
	} {
		if other, twice := seen[id(changed)]; twice {
			t.Errorf("%s asks for the same as %s", name, other)
		}
		seen[id(changed)] = name
	}
}
