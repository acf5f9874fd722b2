package testkit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// request is what the spec that counts asks of one module.
type request struct {
	channel, version string
	unmanaged        bool
}

// requests returns what a Kyma asks for, by module. merged is false while the hub's part of it has not become part of what counts.
func requests(kyma *v1beta2.Kyma) (modules map[string]request, merged bool) {
	counts := module.SeenOf(&kyma.Spec)
	if module.Synced(kyma) {
		last := kyma.Status.LastSeen
		if last == nil || last.Hub == nil || last.Runtime == nil || !equality.Semantic.DeepEqual(counts, *last.Hub) {
			return nil, false
		}
		counts = *last.Runtime
	}
	modules = map[string]request{}
	for i := range counts.Modules {
		asked := &counts.Modules[i]
		one := request{version: asked.Version, unmanaged: asked.Managed != nil && !*asked.Managed}
		if one.version == "" {
			one.channel = cmp.Or(asked.Channel, counts.Channel, v1beta2.DefaultChannel)
		}
		modules[asked.Name] = one
	}
	return modules, true
}

// overclaims compares a status with the spec of the generation that it names, and returns as sentences where it says Ready of what that
// spec does not ask for, or of what nothing shows to be there. A status of an earlier generation is compared with nothing.
func overclaims(now subject) []string {
	var found []string
	add := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	if ready := conditions.Find(now.conditions, v1beta2.ConditionReady); ready != nil && ready.ObservedGeneration != now.observed {
		add("condition Ready speaks of generation %d, and the status of %d", ready.ObservedGeneration, now.observed)
	}
	if now.state != v1beta2.StateReady || now.observed != now.generation {
		return found
	}
	if now.deleted {
		add("state is Ready, and it is being deleted")
	}
	for _, object := range now.planned {
		add("state is Ready, and %s is not applied", object)
	}
	if now.kyma == nil {
		return found
	}
	asked, merged := requests(now.kyma)
	if !merged {
		add("state is Ready, and generation %d was not merged with what the runtime asks for", now.observed)
		return found
	}
	return append(found, mismatches(asked, now.modules)...)
}

// mismatches returns where the modules of a Ready status are not those that are requested.
func mismatches(asked map[string]request, modules []v1beta2.ModuleStatus) []string {
	var found []string
	add := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	open := maps.Clone(asked)
	for i := range modules {
		entry := &modules[i]
		want, ok := open[entry.Name]
		delete(open, entry.Name)
		switch unmanaged := entry.State == v1beta2.StateUnmanaged; {
		case !ok:
			add("state is Ready, and nothing asks for module %s", entry.Name)
		case unmanaged != want.unmanaged:
			add("state is Ready, and module %s is %s, managed: %t is asked for", entry.Name, entry.State, !want.unmanaged)
		case unmanaged, entry.Maintenance: // an upgrade that waits for its window is told by the entry
		case want.version != "" && want.version != entry.Version:
			add("state is Ready, and module %s has version %s, %s is asked for", entry.Name, entry.Version, want.version)
		case want.version == "" && want.channel != entry.Channel:
			add("state is Ready, and module %s follows channel %s, %s is asked for", entry.Name, entry.Channel, want.channel)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		add("state is Ready, and module %s is asked for and not in the status", name)
	}
	return found
}

// claim is that a Kyma's status says Ready of a module by a generation of its Manifest.
type claim struct {
	revision   uint64
	text       string // whose it is, for users
	module     string
	manifest   string
	generation int64
}

// claims compares what Kymas say of modules with what their Manifests said before. Kymas and Manifests come by two streams; revisions
// of the API server tell what was first.
type claims struct {
	ready   map[string]map[int64]uint64 // by Manifest and generation: the revision at which its status first said Ready
	reached uint64                      // every Manifest was seen up to this revision
	open    []claim
	blind   bool // a stream lost events: what was said meanwhile is not known
}

// heard takes note of a Manifest. One that is seen for the first time may have said for long what it says.
func (c *claims) heard(manifest string, now subject, first bool) {
	c.reached = max(c.reached, now.revision)
	if now.state != v1beta2.StateReady || now.observed != now.generation {
		return
	}
	if c.ready == nil {
		c.ready = map[string]map[int64]uint64{}
	}
	if c.ready[manifest] == nil {
		c.ready[manifest] = map[int64]uint64{}
	}
	if _, known := c.ready[manifest][now.generation]; !known {
		since := now.revision
		if first {
			since = 0
		}
		c.ready[manifest][now.generation] = since
	}
}

// made takes note of what a Kyma's status says now and did not say before.
func (c *claims) made(text string, before, now subject) {
	if c.blind {
		return
	}
	for i := range now.modules {
		entry := &now.modules[i]
		if entry.State != v1beta2.StateReady || entry.Manifest == nil || slices.ContainsFunc(before.modules, func(old v1beta2.ModuleStatus) bool {
			return old.Name == entry.Name && old.State == entry.State && equality.Semantic.DeepEqual(old.Manifest, entry.Manifest)
		}) {
			continue
		}
		c.open = append(c.open, claim{
			revision: now.revision, text: text, module: entry.Name,
			manifest: entry.Manifest.Namespace + "/" + entry.Manifest.Name, generation: entry.Manifest.Generation,
		})
	}
}

// settle returns the claims that nothing bears out, as sentences, and forgets those that can be judged.
func (c *claims) settle() []string {
	var found []string
	c.open = slices.DeleteFunc(c.open, func(one claim) bool {
		at, ready := c.ready[one.manifest][one.generation]
		if ready && at < one.revision || c.blind {
			return true
		}
		if c.reached < one.revision {
			return false // the Manifest may have said so, and its stream is late
		}
		found = append(found, fmt.Sprintf("%s: module %s is Ready by generation %d of Manifest %s, which never said so",
			one.text, one.module, one.generation, one.manifest))
		return true
	})
	return found
}
