package policy

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// maxSignatureRules bounds the rules, and maxSigners the keys and certificates of one: all may be tried for each component.
	maxSignatureRules = 1000
	maxSigners        = 64
	// minKeyBits is the shortest RSA key that is worth something.
	minKeyBits = 2048
)

// signaturesFile is the file as people write it.
type signaturesFile struct {
	Signatures []signatureEntry `json:"signatures"`
}

type signatureEntry struct {
	// Components is a regular expression that has to match a component's whole name. ".*" stands for everything, also for what belongs to no
	// component.
	Components string `json:"components"`
	// Require is off, warn or enforce.
	Require descriptor.Requirement `json:"require"`
	// Names of the signatures that count; empty means kyma-module-signature.
	Names []string `json:"names"`
	// PublicKeys are RSA keys of signers in PEM, Certificates those of signers or of authorities. Files beside this one may hold both.
	PublicKeys   []string `json:"publicKeys"`
	Certificates []string `json:"certificates"`
	Files        []string `json:"files"`
}

// parseSignatures reads a signatures file. Everything that is wrong is told at once.
func parseSignatures(data []byte, beside func(name string) ([]byte, error)) ([]signatureRule, error) {
	document, err := onlyDocument(data)
	if err != nil {
		return nil, err
	}
	var file signaturesFile
	strict, err := kjson.UnmarshalStrict(document, &file)
	if err := errors.Join(append(strict, err)...); err != nil {
		const form = "signatures: [{components, require, names, publicKeys, certificates, files}]"
		return nil, fmt.Errorf("it does not have the form %q: %w", form, err)
	}
	if file.Signatures == nil {
		return nil, errors.New("it is empty: write \"signatures: []\" if no component has to be signed")
	}
	if len(file.Signatures) > maxSignatureRules {
		return nil, fmt.Errorf("it has %d rules and %d are accepted", len(file.Signatures), maxSignatureRules)
	}
	rules := make([]signatureRule, 0, len(file.Signatures))
	var problems []error
	for i := range file.Signatures {
		entry := &file.Signatures[i]
		rule, err := entry.rule(beside)
		if err != nil {
			problems = append(problems, fmt.Errorf("signatures[%d] (components %q): %w", i, entry.Components, err))
			continue
		}
		rules = append(rules, rule)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return rules, nil
}

func (e *signatureEntry) rule(beside func(string) ([]byte, error)) (rule signatureRule, err error) {
	if e.Components == "" {
		return rule, errors.New("components is missing: write a regular expression for their names, or .* for everything")
	}
	if rule.components, err = regexp.Compile(`^(?:` + e.Components + `)$`); err != nil {
		return rule, fmt.Errorf("components is no regular expression: %w", err)
	}
	rule.policy = &descriptor.SignaturePolicy{Require: e.Require, Trust: descriptor.Trust{Names: e.Names}}
	trust := &rule.policy.Trust
	switch e.Require {
	case descriptor.RequireOff, descriptor.RequireWarn, descriptor.RequireEnforce:
	default:
		return rule, fmt.Errorf("require is %q: write off, warn or enforce", e.Require)
	}
	if len(trust.Names) == 0 {
		trust.Names = []string{descriptor.SignatureName}
	}
	for _, name := range trust.Names {
		if strings.TrimSpace(name) == "" {
			return rule, errors.New("names has an empty name")
		}
	}
	if err := e.trust(trust, beside); err != nil {
		return rule, err
	}
	signers := len(trust.PublicKeys) + len(trust.Certificates)
	if e.Require != descriptor.RequireOff && signers == 0 {
		return rule, errors.New("nobody is trusted: write publicKeys, certificates or files")
	}
	if signers > maxSigners {
		return rule, fmt.Errorf("it has %d keys and certificates and %d are accepted", signers, maxSigners)
	}
	return rule, nil
}

// trust collects the keys and certificates of a rule.
func (e *signatureEntry) trust(into *descriptor.Trust, beside func(string) ([]byte, error)) error {
	for i, text := range e.PublicKeys {
		if err := signers(fmt.Sprintf("publicKeys[%d]", i), []byte(text), into); err != nil {
			return err
		}
	}
	if len(into.Certificates) > 0 {
		return errors.New("publicKeys holds a certificate: write it to certificates")
	}
	keys := len(into.PublicKeys)
	for i, text := range e.Certificates {
		if err := signers(fmt.Sprintf("certificates[%d]", i), []byte(text), into); err != nil {
			return err
		}
	}
	if len(into.PublicKeys) > keys {
		return errors.New("certificates holds a public key: write it to publicKeys")
	}
	for _, name := range e.Files {
		if name != filepath.Base(name) || !filepath.IsLocal(name) {
			return fmt.Errorf("file %q is not accepted: name a file in the folder of this one, which is the one that is watched", name)
		}
		data, err := beside(name)
		if err != nil {
			return fmt.Errorf("file %q cannot be read: %w", name, err)
		}
		if err := signers("file "+name, data, into); err != nil {
			return err
		}
	}
	return nil
}

// signers reads PEM that holds keys and certificates and nothing else.
func signers(where string, data []byte, into *descriptor.Trust) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%s is empty", where)
	}
	for rest := data; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return fmt.Errorf("%s is not PEM from its begin to its end", where)
		}
		switch {
		case block.Type == "CERTIFICATE":
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return fmt.Errorf("%s holds a certificate that cannot be read: %w", where, err)
			}
			into.Certificates = append(into.Certificates, certificate)
		case block.Type == "PUBLIC KEY" || block.Type == "RSA PUBLIC KEY":
			key, err := publicKey(block)
			if err != nil {
				return fmt.Errorf("%s %w", where, err)
			}
			into.PublicKeys = append(into.PublicKeys, key)
		case strings.Contains(block.Type, "PRIVATE"):
			return fmt.Errorf("%s holds a private key, which must not be here: replace that key everywhere, and write the public one", where)
		default:
			return fmt.Errorf("%s holds a %q: only public keys and certificates belong there", where, block.Type)
		}
	}
	return nil
}

func publicKey(block *pem.Block) (*rsa.PublicKey, error) {
	key, err := x509.ParsePKCS1PublicKey(block.Bytes)
	if block.Type == "PUBLIC KEY" {
		var read any
		if read, err = x509.ParsePKIXPublicKey(block.Bytes); err == nil {
			found, known := read.(*rsa.PublicKey)
			if !known {
				return nil, fmt.Errorf("holds a %T: only RSA signs components", read)
			}
			key = found
		}
	}
	if err != nil {
		return nil, errors.New("holds a public key that cannot be read")
	}
	if key.N.BitLen() < minKeyBits {
		return nil, fmt.Errorf("holds an RSA key of %d bits: %d are needed", key.N.BitLen(), minKeyBits)
	}
	return key, nil
}
