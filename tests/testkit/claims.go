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

// request is what the effective spec requests for one module: a version, a channel, or neither where a KymaRelease has its version.
type request struct {
	channel, version string
	unmanaged        bool
}

// requests returns the requested modules of a Kyma. merged is false while the hub's part of it is not yet merged into the effective spec.
func requests(kyma *v1beta2.Kyma) (modules map[string]request, merged bool) {
	counts := module.SeenOf(&kyma.Spec)
	if module.Synced(kyma) {
		if module.Behind(&kyma.Spec, kyma.Status.LastSeen) {
			return nil, false
		}
		counts = *kyma.Status.LastSeen.Runtime
	}
	modules = map[string]request{}
	for i := range counts.Modules {
		asked := &counts.Modules[i]
		one := request{version: asked.Version, unmanaged: asked.Managed != nil && !*asked.Managed}
		released := kyma.Spec.Release != "" && asked.Channel == ""
		if one.version == "" && !released {
			one.channel = cmp.Or(asked.Channel, counts.Channel, v1beta2.DefaultChannel)
		}
		modules[asked.Name] = one
	}
	return modules, true
}

// overclaims compares a status with the spec of its observed generation. It returns a sentence for each part that is Ready although the
// spec does not request it, or nothing shows that it exists. A status of an earlier generation is not compared.
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

// mismatches returns how the modules of a Ready status differ from the requested ones.
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
		case unmanaged, entry.Maintenance, entry.Offered != "", entry.Pending != nil: // the entry shows a version that waits
		case want.version != "" && want.version != entry.Version:
			add("state is Ready, and module %s has version %s, %s is asked for", entry.Name, entry.Version, want.version)
		case want.version == "" && want.channel != entry.Channel:
			add("state is Ready, and module %s follows channel %q, %q is asked for", entry.Name, entry.Channel, want.channel)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		add("state is Ready, and module %s is asked for and not in the status", name)
	}
	return found
}

// claim records that a Kyma's status shows a module as Ready for a generation of its Manifest.
type claim struct {
	revision   uint64
	text       string // the object, for messages
	module     string
	manifest   string
	generation int64
}

// claims compares the modules in Kyma statuses with earlier statuses of their Manifests. Kymas and Manifests arrive in two streams;
// revisions of the API server show the order.
type claims struct {
	ready   map[string]map[int64]uint64 // by Manifest and generation: the revision at which its status was first Ready
	reached uint64                      // every Manifest was seen up to this revision
	open    []claim
	blind   bool // a stream lost events: statuses in between are unknown
}

// heard records the status of a Manifest. A Manifest that is seen for the first time may have had this status for long.
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

// made records the claims that are new in a Kyma's status.
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

// settle returns the unsupported claims, as sentences, and forgets all claims that can be judged.
func (c *claims) settle() []string {
	var found []string
	c.open = slices.DeleteFunc(c.open, func(one claim) bool {
		at, ready := c.ready[one.manifest][one.generation]
		if ready && at < one.revision || c.blind {
			return true
		}
		if c.reached < one.revision {
			return false // the Manifest may have been Ready, and its stream is late
		}
		found = append(found, fmt.Sprintf("%s: module %s is Ready by generation %d of Manifest %s, which never said so",
			one.text, one.module, one.generation, one.manifest))
		return true
	})
	return found
}
