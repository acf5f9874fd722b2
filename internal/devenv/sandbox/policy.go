package sandbox

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

const (
	signaturesFolder = "signatures"
	signaturesFile   = "signatures.yaml"
	// keyFile holds the key that signs the sample modules; only this sandbox trusts it.
	keyFile = "samples-key.pem"
)

// Levels are the levels of a signature policy.
var Levels = []string{"off", "audit", "enforce"}

// Policy is a signature policy: which components must be signed with which keys.
type Policy struct {
	// Level is one of Levels; empty means the first.
	Level string
	// Components is a regular expression for the names of the components that it covers; empty means all of them.
	Components string
	// Trust are public keys and certificates, in PEM, whose signatures count.
	Trust [][]byte
}

// signatureRule is an entry of the file that the manager reads: docs/spec/signatures.md.
type signatureRule struct {
	Components   string   `json:"components"`
	Require      string   `json:"require"`
	PublicKeys   []string `json:"publicKeys,omitempty"`
	Certificates []string `json:"certificates,omitempty"`
}

// Check returns what is wrong with a policy.
func (p Policy) Check() error {
	if p.Level != "" && p.Level != "warn" && !slices.Contains(Levels, p.Level) { // warn is an older word for audit
		return fmt.Errorf("signatures %q: use one of %s", p.Level, strings.Join(Levels, ", "))
	}
	if _, err := regexp.Compile(p.Components); err != nil {
		return fmt.Errorf("components %q is not a regular expression: %w", p.Components, err)
	}
	if p.asks() && len(p.Trust) == 0 {
		return fmt.Errorf("signatures %s, and no key is trusted: name a public key or a certificate", p.Level)
	}
	_, _, err := p.sorted()
	return err
}

func (p Policy) asks() bool { return p.Level != "" && p.Level != Levels[0] }

// sorted returns the trusted public keys and certificates.
func (p Policy) sorted() (keys, certificates []string, err error) {
	for _, text := range p.Trust {
		found := 0
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			found++
			switch block.Type {
			case "CERTIFICATE":
				certificates = append(certificates, string(pem.EncodeToMemory(block)))
			case "PUBLIC KEY", "RSA PUBLIC KEY":
				keys = append(keys, string(pem.EncodeToMemory(block)))
			default:
				return nil, nil, fmt.Errorf("what should be trusted holds a %q: give a public key or a certificate", block.Type)
			}
		}
		if found == 0 {
			return nil, nil, errors.New("what should be trusted is not in PEM")
		}
	}
	return keys, certificates, nil
}

// rules returns the rules of the file:
//
//  1. the sample modules must be signed with the key of the sandbox, if the policy covers them, so that they remain available
//  2. the components that the policy covers must be signed with a trusted key
//  3. everything else needs no signature
func (p Policy) rules(samplesKey string) ([]signatureRule, error) {
	rules := []signatureRule{}
	if !p.asks() {
		return rules, nil
	}
	pattern := p.Components
	if pattern == "" {
		pattern = ".*"
	}
	about, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, err
	}
	for _, name := range playground.Components() {
		if about.MatchString(name) {
			rules = append(rules, signatureRule{Components: regexp.QuoteMeta(name), Require: p.Level, PublicKeys: []string{samplesKey}})
		}
	}
	keys, certificates, err := p.sorted()
	rules = append(rules, signatureRule{Components: pattern, Require: p.Level, PublicKeys: keys, Certificates: certificates})
	if p.Components != "" && p.Level == Levels[2] { // where one rule enforces, components without a rule are refused
		rules = append(rules, signatureRule{Components: ".*", Require: Levels[0]})
	}
	return rules, err
}

// ApplyPolicy makes a policy the one that the manager of a sandbox follows, immediately if it runs.
func (s *Sandbox) ApplyPolicy(p Policy) error {
	if err := p.Check(); err != nil {
		return err
	}
	signer, err := s.signer()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(signer.Key.Public())
	if err != nil {
		return err
	}
	rules, err := p.rules(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(map[string]any{"signatures": rules})
	if err != nil {
		return err
	}
	folder := filepath.Join(s.Dir, managerPart, signaturesFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return replace(filepath.Join(folder, signaturesFile), data)
}

// signer returns the signer of the sample modules.
func (s *Sandbox) signer() (*component.Signer, error) {
	key, err := os.ReadFile(filepath.Join(s.Dir, keyFile))
	if err != nil {
		return nil, err
	}
	return component.ReadSigner(key, nil)
}
