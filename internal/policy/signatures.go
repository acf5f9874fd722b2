package policy

import (
	"regexp"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// SignatureFile holds the signature policy of a file that may change at any time.
type SignatureFile struct {
	watched[signatureRules]
	listeners
}

// signatureRules are the rules of a file.
type signatureRules struct {
	rules []signatureRule
	// rest is the policy for components that no rule matches; nil requires nothing.
	rest *descriptor.SignaturePolicy
}

// signatureRule is one entry of the file.
type signatureRule struct {
	components *regexp.Regexp
	policy     *descriptor.SignaturePolicy
}

// Signatures reads the file at path. An error means that there is no valid content; a manager should not start then: a policy that is
// requested but missing must not mean that everything is permitted. An empty path returns a SignatureFile that requires no signature and
// never changes.
//
// The file is YAML, and docs/spec/signatures.md describes its fields: "signatures: [{components, require, ...}], revoked: [...]". Its
// folder is watched once Start was called; a short-lived program need not call it.
func Signatures(path string, log logr.Logger) (*SignatureFile, error) {
	f := newSignatureFile(path, log)
	if err := f.begin(); err != nil {
		return nil, err
	}
	return f, nil
}

func newSignatureFile(path string, log logr.Logger) *SignatureFile {
	f := &SignatureFile{}
	f.what, f.path, f.log, f.parse, f.changed = "signatures file", path, log, parseSignatures, f.tell
	return f
}

// For returns the policy for a component: that of the first rule whose pattern matches the whole name. Where there is none, it returns a
// policy that refuses everything if any rule enforces, and otherwise nil, which requires nothing. Content without a component has the name
// "". As long as the file does not change, the result is always the same pointer.
func (f *SignatureFile) For(component string) *descriptor.SignaturePolicy {
	known := f.current()
	for _, rule := range known.rules {
		if rule.components.MatchString(component) {
			return rule.policy
		}
	}
	return known.rest
}
