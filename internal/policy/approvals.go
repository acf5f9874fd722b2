package policy

import (
	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// ApprovalFile says which versions need consent, with a file that may change at any time.
type ApprovalFile struct {
	watched[*module.ApprovalPolicy]
	listeners
}

// Approvals reads the file at path. An error means that there is no valid content; a manager should not start then: a policy that is
// requested but missing must not mean that no version needs consent. An empty path returns an ApprovalFile without rules that never
// changes.
//
// The file is YAML, and docs/spec/approvals.md describes its fields: "rules: [{modules, kymaSelector, when, by, firstInstallation}]". Its
// folder is watched once Start was called; a short-lived program need not call it.
func Approvals(path string, log logr.Logger) (*ApprovalFile, error) {
	f := &ApprovalFile{}
	f.what, f.path, f.log, f.changed = "approval file", path, log, f.tell
	f.parse = func(data []byte, _ func(string) ([]byte, error)) (*module.ApprovalPolicy, error) {
		return ParseApprovals(data)
	}
	if err := f.begin(); err != nil {
		return nil, err
	}
	return f, nil
}

// Policy returns the policy in force, nil when there is none. It is shared and must not be modified.
func (f *ApprovalFile) Policy() *module.ApprovalPolicy { return f.current() }

// Good reports whether the current content of the file is in force.
func (f *ApprovalFile) Good() bool { return f.Err() == nil }
