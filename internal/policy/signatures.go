package policy

import (
	"regexp"
	"slices"
	"sync"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// SignatureFile holds the signature policy of a file that may change at any time.
type SignatureFile struct {
	watched[signatureRules]

	waiting sync.Mutex
	told    []func()
}

// signatureRules is what a file says.
type signatureRules struct {
	rules []signatureRule
	// rest is the policy for what no rule is about; nil asks for nothing.
	rest *descriptor.SignaturePolicy
}

// signatureRule is one entry of the file.
type signatureRule struct {
	components *regexp.Regexp
	policy     *descriptor.SignaturePolicy
}

// Signatures reads the file at path. An error means that there is nothing to start with; a manager should not start then: a policy that
// is requested and not there must not mean that anything goes. An empty path gives a SignatureFile that asks for no signature and never
// changes.
//
// The file is YAML, and docs/spec/signatures.md tells its fields: "signatures: [{components, require, ...}], revoked: [...]". Its folder is
// watched once Start was called; a program that runs for a moment only need not call it.
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

// For returns the policy for a component: that of the first rule whose pattern the whole name matches. Where there is none, it is one that
// refuses everything as soon as any rule enforces, and nil, which asks for nothing, otherwise. What is of no component is "".
// As long as nothing in the file changes it is always the same pointer.
func (f *SignatureFile) For(component string) *descriptor.SignaturePolicy {
	known := f.current()
	for _, rule := range known.rules {
		if rule.components.MatchString(component) {
			return rule.policy
		}
	}
	return known.rest
}

// OnChange has a function called after other rules came into force.
func (f *SignatureFile) OnChange(do func()) {
	f.waiting.Lock()
	defer f.waiting.Unlock()
	f.told = append(f.told, do)
}

func (f *SignatureFile) tell() {
	f.waiting.Lock()
	told := slices.Clone(f.told)
	f.waiting.Unlock()
	for _, do := range told {
		do()
	}
}
