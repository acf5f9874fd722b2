package policy

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// maxSignatureRules bounds the rules, and maxSigners the keys and certificates of one: all may be tried for each component.
	maxSignatureRules = 1000
	maxSigners        = 64
	// maxRevoked bounds the revoked keys.
	maxRevoked = 10_000
)

// signaturesFile is the file as users write it.
type signaturesFile struct {
	Signatures []signatureEntry `json:"signatures"`
	// Revoked are keys whose signatures no longer count, whatever the rules.
	Revoked []string `json:"revoked"`
}

type signatureEntry struct {
	// Components is a regular expression that must match a component's whole name. ".*" stands for everything, including content without a
	// component.
	Components string `json:"components"`
	// Require is off, audit or enforce.
	Require requirement `json:"require"`
	// Names of the signatures that count; empty means kyma-module-signature.
	Names []string `json:"names"`
	// PublicKeys are keys of signers in PEM, Certificates the certificates of signers or authorities. Files beside this one may hold both.
	PublicKeys   []string `json:"publicKeys"`
	Certificates []string `json:"certificates"`
	Files        []string `json:"files"`
	// Subjects restrict signers with a certificate to these subjects, DNS names, email addresses or URIs.
	Subjects []string `json:"subjects"`
	// Signers is the number of different keys that must have signed; 0 means one.
	Signers int `json:"signers"`
	// Allow lists what is accepted without being covered by a signature.
	Allow []descriptor.Allowance `json:"allow"`
}

// requirement is a descriptor.Requirement as users write it: off without quotes is a boolean in YAML, and warn is the old name of audit.
type requirement descriptor.Requirement

// UnmarshalJSON accepts a string, or false for off.
func (r *requirement) UnmarshalJSON(data []byte) error {
	var text string
	if string(data) == "false" {
		text = string(descriptor.RequireOff)
	} else if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("require is %s: write off, audit or enforce", data)
	}
	if text == "warn" {
		text = string(descriptor.RequireAudit)
	}
	*r = requirement(text)
	return nil
}

// parseSignatures parses a signatures file. The error lists all problems at once.
func parseSignatures(data []byte, beside func(name string) ([]byte, error)) (found signatureRules, err error) {
	file, err := decodeSignatures(data)
	if err != nil {
		return found, err
	}
	var problems []error
	enforces := false
	for i := range file.Signatures {
		entry := &file.Signatures[i]
		rule, err := entry.rule(beside)
		if err != nil {
			problems = append(problems, fmt.Errorf("signatures[%d] (components %q): %w", i, entry.Components, err))
			continue
		}
		rule.policy.Trust.Revoked = file.Revoked
		enforces = enforces || rule.policy.Enforced()
		found.rules = append(found.rules, rule)
	}
	if err := errors.Join(append(problems, checkRevoked(file.Revoked))...); err != nil {
		return signatureRules{}, err
	}
	if enforces {
		found.rest = &descriptor.SignaturePolicy{Require: descriptor.RequireEnforce, Unmatched: true, Closed: true, ID: "unmatched"}
	}
	for i := range found.rules {
		found.rules[i].policy.Closed = enforces
		found.rules[i].policy.ID = found.rules[i].policy.Fingerprint()
	}
	return found, nil
}

func decodeSignatures(data []byte) (*signaturesFile, error) {
	document, err := onlyDocument(data)
	if err != nil {
		return nil, err
	}
	var file signaturesFile
	strict, err := kjson.UnmarshalStrict(document, &file)
	if err := errors.Join(append(strict, err)...); err != nil {
		const form = "signatures: [{components, require, names, publicKeys, certificates, files, subjects, signers, allow}], revoked: []"
		return nil, fmt.Errorf("it does not have the form %q: %w", form, err)
	}
	if file.Signatures == nil {
		return nil, errors.New("it is empty: write \"signatures: []\" if no component must be signed")
	}
	if len(file.Signatures) > maxSignatureRules {
		return nil, fmt.Errorf("it has %d rules and %d are accepted", len(file.Signatures), maxSignatureRules)
	}
	return &file, nil
}

var keyID = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func checkRevoked(keys []string) error {
	if len(keys) > maxRevoked {
		return fmt.Errorf("revoked has %d keys and %d are accepted: take keys out of the rules instead", len(keys), maxRevoked)
	}
	for i, key := range keys {
		if !keyID.MatchString(key) {
			return fmt.Errorf("revoked[%d] is %q, which names no key: write sha256: and the 64 hex digits that "+
				"\"openssl pkey -pubin -outform DER | sha256sum\" prints for it", i, key)
		}
	}
	return nil
}

// rule checks an entry. Line breaks match like other characters: an invisible character must not select another rule.
func (e *signatureEntry) rule(beside func(string) ([]byte, error)) (rule signatureRule, err error) {
	if e.Components == "" {
		return rule, errors.New("components is missing: write a regular expression for their names, or .* for everything")
	}
	if rule.components, err = regexp.Compile(`(?s)^(?:` + e.Components + `)$`); err != nil {
		return rule, fmt.Errorf("components is no regular expression: %w", err)
	}
	rule.policy = &descriptor.SignaturePolicy{
		Require: descriptor.Requirement(e.Require), Allow: e.Allow,
		Trust: descriptor.Trust{Names: e.Names, Subjects: e.Subjects, Signers: e.Signers},
	}
	trust := &rule.policy.Trust
	switch rule.policy.Require {
	case descriptor.RequireOff, descriptor.RequireAudit, descriptor.RequireEnforce:
	default:
		return rule, fmt.Errorf("require is %q: write off, audit or enforce", e.Require)
	}
	if len(trust.Names) == 0 {
		trust.Names = []string{descriptor.SignatureName}
	}
	if slices.ContainsFunc(slices.Concat(trust.Names, trust.Subjects), func(name string) bool { return strings.TrimSpace(name) == "" }) {
		return rule, errors.New("names or subjects has an empty name")
	}
	for _, what := range e.Allow {
		if !slices.Contains(descriptor.Allowances(), what) {
			return rule, fmt.Errorf("allow has %q, and there are only %q", what, descriptor.Allowances())
		}
	}
	if err := e.trust(trust, beside); err != nil {
		return rule, err
	}
	return rule, e.checkSigners(rule.policy)
}

// checkSigners refuses a rule that no signature can satisfy.
func (e *signatureEntry) checkSigners(policy *descriptor.SignaturePolicy) error {
	keys, certificates := len(policy.Trust.PublicKeys), len(policy.Trust.Certificates)
	switch {
	case policy.Asks() && keys+certificates == 0:
		return errors.New("no signer is trusted: write publicKeys, certificates or files")
	case keys+certificates > maxSigners:
		return fmt.Errorf("it has %d keys and certificates and %d are accepted", keys+certificates, maxSigners)
	case e.Signers < 0 || certificates == 0 && e.Signers > keys && policy.Asks():
		return fmt.Errorf("signers is %d, and %d keys are trusted: that many cannot sign", e.Signers, keys)
	case len(e.Subjects) > 0 && certificates == 0:
		return errors.New("subjects binds certificates, and there are none: write certificates or files, or remove subjects")
	}
	return nil
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

// signers parses PEM that holds keys and certificates and nothing else.
func signers(where string, data []byte, into *descriptor.Trust) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%s is empty", where)
	}
	for rest := data; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return fmt.Errorf("%s contains text that is not PEM", where)
		}
		switch {
		case block.Type == "CERTIFICATE":
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return fmt.Errorf("%s holds a certificate that cannot be read: %w", where, err)
			}
			into.Certificates = append(into.Certificates, certificate)
		case block.Type == "PUBLIC KEY" || block.Type == "RSA PUBLIC KEY":
			key, err := descriptor.ParsePublicKey(block)
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
