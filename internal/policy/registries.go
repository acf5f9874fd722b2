package policy

import (
	"strings"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// RegistryFile defines how to connect to each registry, with a file that may change at any time.
type RegistryFile struct{ watched[policies] }

// Registries reads the file at path. An error means that there is no valid content; a manager should not start then. An empty path returns
// a RegistryFile without rules, which never changes.
//
// The file is YAML: "registries: [{host, plainHTTP, ca | caFile, mirrors}]". Its folder is watched, since that is how Kubernetes updates a
// mounted ConfigMap: a mount by subPath never changes, so updates are not noticed.
func Registries(path string, log logr.Logger) (*RegistryFile, error) {
	f := newRegistryFile(path, log)
	if err := f.begin(); err != nil {
		return nil, err
	}
	return f, nil
}

func newRegistryFile(path string, log logr.Logger) *RegistryFile {
	return &RegistryFile{watched[policies]{what: "registries file", path: path, log: log, parse: parse}}
}

// Host returns the policy for a host (host[:port]): 1. that of its own entry; 2. that of the entry "*"; 3. the zero policy. Entries are not
// merged. The result is shared and must not be modified.
func (f *RegistryFile) Host(host string) content.HostPolicy {
	known := f.current()
	if policy, ok := known[strings.ToLower(host)]; ok {
		return policy
	}
	return known[everyHost]
}
