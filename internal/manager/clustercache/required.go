package clustercache

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	maxVersion = 100
	// maxVersionBody bounds the answer with a version, which has half a kilobyte.
	maxVersionBody = 16 << 10
	// oneOf separates a kind from the name of its one object that is tracked; no name of a kind contains it.
	oneOf = " "
)

// definitionKind returns the key of one CustomResourceDefinition, which is tracked as if it were the only one of a kind of its own: other
// owners track the definitions that are theirs, by their metadata, and a runtime may have hundreds of large ones.
func definitionKind(name string) schema.GroupKind {
	return schema.GroupKind{Group: inventory.CRDKind.Group, Kind: inventory.CRDKind.Kind + oneOf + name}
}

// servedKind returns the kind that an API server knows a tracked kind by.
func servedKind(gk schema.GroupKind) schema.GroupKind {
	gk.Kind, _, _ = strings.Cut(gk.Kind, oneOf)
	return gk
}

// Definition is what is known of a CustomResourceDefinition.
type Definition struct {
	// Known is false while it was not looked at. Present reports whether it exists, and Served are the versions that it serves; none while
	// it is not established, or being deleted.
	Known, Present bool
	Served         []string
}

// Definition returns what is known of a definition that is tracked with the mode Definition.
func (r *Runtime) Definition(name string) Definition {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[definitionKind(name)]
	if k == nil || !k.known || k.problem != nil {
		return Definition{}
	}
	o := k.objects[placeOf("", name)]
	switch {
	case o == nil:
		return Definition{Known: true}
	case o.terminating || !o.ready():
		return Definition{Known: true, Present: true}
	}
	return Definition{Known: true, Present: true, Served: r.served.versionsOf(name)}
}

// versionsOf returns the versions that an observed definition serves.
func (s *resources) versionsOf(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.defined[name].versions)
}

// KubeVersion returns the version of Kubernetes, without a call; empty when the runtime does not tell it. Every probe reads it: at the
// first contact and after an outage, as the restart of an API server is one for a moment.
func (r *Runtime) KubeVersion() string {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	return r.conn.version
}

// Require sets what an owner requires of the cluster, beside what it tracks as another owner: definitions, of which it is enqueued at every
// change, and whether the version of Kubernetes matters, of whose change it is enqueued. The latter costs a call when a stream ends, as
// those do whose API server is replaced, and with every audit. Untrack ends it.
func (r *Runtime) Require(owner types.NamespacedName, definitions []string, kubernetes bool) {
	interests := make([]runtimes.Interest, 0, len(definitions))
	for _, name := range definitions {
		interests = append(interests, runtimes.Interest{
			GroupVersionKind: inventory.CRDKind.WithVersion("v1"), Mode: runtimes.Definition, Only: types.NamespacedName{Name: name},
		})
	}
	r.Track(owner, interests)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, tracks := r.owners[owner]; !tracks || !kubernetes {
		delete(r.versioned, owner)
		return
	}
	if r.versioned == nil {
		r.versioned = map[types.NamespacedName]struct{}{}
	}
	r.versioned[owner] = struct{}{}
}

// checkVersion asks for the version of Kubernetes where an owner waits for another one.
func (r *Runtime) checkVersion() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.checkVersionLocked()
}

// checkVersionLocked is checkVersion. The caller holds the lock, for reading at least.
func (r *Runtime) checkVersionLocked() {
	if len(r.versioned) > 0 {
		r.conn.probe()
	}
}

// reportUpgrade enqueues the owners that track the version of Kubernetes.
func (r *Runtime) reportUpgrade() {
	r.mu.RLock()
	told := make([]types.NamespacedName, 0, len(r.versioned))
	for owner := range r.versioned {
		told = append(told, owner)
	}
	r.mu.RUnlock()
	r.conn.tell(priority.Now, told...)
}

// recordVersion stores the version that a probe found.
func (c *connection) recordVersion(found string) {
	c.mu.Lock()
	before := c.version
	c.version = found
	c.mu.Unlock()
	if before != "" && before != found {
		c.upgraded()
	}
}

// readVersion reads the version that an API server tells.
func readVersion(body io.Reader) (string, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := wire.ReadValue(data, &info); err != nil {
		return "", err
	}
	if _, err := version.ParseGeneric(info.GitVersion); err != nil || len(info.GitVersion) > maxVersion {
		return "", fmt.Errorf("it tells %.*q, which is none", maxVersion, info.GitVersion)
	}
	return info.GitVersion, nil
}
