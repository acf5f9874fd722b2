package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// maxName leaves room in the names of Secrets for what is put around the name of an installation.
const maxName = 200

var (
	namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
)

// call is one call of Install, Check, Diff, Disown or Uninstall.
type call struct {
	inst    Installation // with defaults
	cluster *Cluster
	engine  *apply.Cluster
	probes  []engine.Probe
	record  *record

	parts    []engine.Part                               // what CRDs and Sources declare
	desired  []*unstructured.Unstructured                // the same, as it is applied
	unplaced []*unstructured.Unstructured                // the same, of kinds that are not served
	order    *engine.Arrangement                         // of desired and unplaced
	custom   []*unstructured.Unstructured                // CustomResources as they are created
	unserved map[inventory.ID]bool                       // those of them, and the hooks, of kinds that are not served
	releases engine.Releases                             // the parts with hooks
	declared map[inventory.ID]*unstructured.Unstructured // desired and custom
	resolved []Resolved
	kept     *keptValues // nil while no content needs them

	mu   sync.Mutex
	seen map[inventory.ID]*unstructured.Unstructured // as it was read or written last; nil when it is not there

	told    map[inventory.ID]ObjectReport // what was done
	passed  map[inventory.ID]ObjectReport // what Progress was told last
	pruning *waiting                      // what of this pass's prune is left; nil when nothing is
	gone    []inventory.Entry             // what is on its way out, in the order in which it was deleted first
	touched map[inventory.ID]bool         // what this call wrote, or tried to
}

// begin checks the Installation, without a call, and prepares the connection.
func begin(inst Installation) (*call, error) {
	inst.OwnerKey = cmp.Or(inst.OwnerKey, DefaultOwnerKey)
	inst.FieldManager = cmp.Or(inst.FieldManager, DefaultFieldManager)
	inst.Ownership = cmp.Or(inst.Ownership, apply.Prevent)
	c := &call{
		inst: inst, cluster: inst.Cluster,
		seen: map[inventory.ID]*unstructured.Unstructured{}, told: map[inventory.ID]ObjectReport{}, touched: map[inventory.ID]bool{},
		passed: map[inventory.ID]ObjectReport{}, order: &engine.Arrangement{},
	}
	if err := c.validate(); err != nil {
		return c, err
	}
	if c.cluster == nil {
		connected, err := Connect(inst.Config)
		if err != nil {
			return c, invalid("%w", err)
		}
		c.cluster = connected
	}
	c.engine = c.cluster.engine(c.learn)
	c.record = newRecord(c)
	return c, nil
}

// validate checks what every call needs, and the probes.
func (c *call) validate() error {
	inst := &c.inst
	switch {
	case inst.Name == "" || inst.Namespace == "":
		return invalid("an Installation needs Name and Namespace: they locate its record")
	case len(inst.Name) > maxName || len(apivalidation.NameIsDNSSubdomain(inst.Name, false)) > 0:
		return invalid("the name %q of the Installation cannot be used: use lower-case letters, digits, '-' and '.', %d at most",
			inst.Name, maxName)
	case len(apivalidation.ValidateNamespaceName(inst.Namespace, false)) > 0:
		return invalid("the namespace %q of the Installation cannot be used: use lower-case letters, digits and '-', 63 at most", inst.Namespace)
	case strings.HasPrefix(inst.GeneratedSecret, indexPrefix), inst.GeneratedSecret != "" &&
		len(apivalidation.NameIsDNSSubdomain(inst.GeneratedSecret, false)) > 0:
		return invalid("the GeneratedSecret %q of the Installation cannot be used: use lower-case letters, digits, '-' and '.', and begin with "+
			"something else than %q, which records do", inst.GeneratedSecret, indexPrefix)
	case inst.Config == nil && inst.Cluster == nil:
		return invalid("an Installation needs a Config or a Cluster: nothing else says which cluster it is in")
	case inst.Cluster != nil && inst.Cluster.served == nil:
		return invalid("the Cluster of the Installation was not made by Connect: call Connect to make one")
	}
	switch inst.Ownership {
	case apply.Prevent, apply.AdoptIfUnowned, apply.Adopt:
	default:
		return invalid("Ownership %q is not known: use %s, %s or %s", inst.Ownership, apply.Prevent, apply.AdoptIfUnowned, apply.Adopt)
	}
	for _, rule := range inst.AllowCRDChanges {
		if !crdsafety.Known(rule) {
			return invalid("AllowCRDChanges names %q, which is not a rule; the rules are %v", rule, crdsafety.Rules())
		}
	}
	for i := range inst.Probes {
		probe := &inst.Probes[i]
		condition, err := health.CompileProbe(probe.Expression)
		if err != nil {
			return &Error{Reason: ReasonProbeInvalid, Err: fmt.Errorf("probe %q: %w", probe.Name, err)}
		}
		kind := schema.GroupKind{Group: probe.Group, Kind: probe.Kind}
		c.probes = append(c.probes, engine.Probe{Name: probe.Name, Kind: kind, Message: probe.Message, Condition: condition})
	}
	return nil
}

// validateContent checks what every call but Disown and Uninstall needs.
func (c *call) validateContent() error {
	if len(c.inst.CRDs)+len(c.inst.Sources)+len(c.inst.CustomResources) == 0 {
		return invalid("the Installation declares nothing: set Sources, CRDs or CustomResources, or call Uninstall")
	}
	names := map[string]bool{}
	for i := range c.inst.Sources {
		switch source := &c.inst.Sources[i]; {
		case source.Name == keptPart:
			return invalid("Source %d is named %q, which stands for what charts have generated: give it another name", i+1, keptPart)
		case source.Name == "":
			return invalid("source %d has no Name: give it one for messages", i+1)
		case names[source.Name]:
			return invalid("two Sources are named %q: give each its own name", source.Name)
		case source.Content == nil:
			return invalid("source %q has no Content: set its source", source.Name)
		default:
			names[source.Name] = true
		}
	}
	for i, object := range c.inst.CRDs {
		if object == nil || object.GroupVersionKind().GroupKind() != inventory.CRDKind || object.GetName() == "" {
			return invalid("CRDs[%d] is not a CustomResourceDefinition with a name: put other objects into a Source, such as Objects", i)
		}
	}
	for i, object := range c.inst.CustomResources {
		if object == nil || object.GetKind() == "" || object.GetAPIVersion() == "" || object.GetName() == "" {
			return invalid("CustomResources[%d] needs apiVersion, kind and metadata.name", i)
		}
	}
	return nil
}

// load reads the record.
func (c *call) load(ctx context.Context) error {
	err := c.record.load(ctx)
	c.record.marks.add(c.inst.RecordLabels, c.inst.RecordAnnotations)
	return err
}

// owner returns the value of the owner mark.
func (c *call) owner() string { return c.inst.Namespace + "/" + c.inst.Name }

func (c *call) options() apply.Options {
	return apply.Options{
		Manager: c.inst.FieldManager, Owner: c.owner(), OwnerKey: c.inst.OwnerKey, Ownership: c.inst.Ownership,
		Live: c.live, Autoscaled: apply.Autoscalers(c.desired), Relation: c.inst.Relation, Successor: c.inst.Successor,
		Claim: c.inst.Claim, Predecessors: c.inst.Predecessors,
	}
}

// learn takes an object as a write returned it.
func (c *call) learn(object *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[inventory.IDOf(object)] = object
}

// lookedUp returns what is known of an object, and whether it was looked for.
func (c *call) lookedUp(id inventory.ID) (object *unstructured.Unstructured, looked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	object, looked = c.seen[id]
	return object, looked
}

// live returns what is known of an object, as the inventory compares it.
func (c *call) live(id inventory.ID) inventory.Live {
	object, looked := c.lookedUp(id)
	switch {
	case !looked:
		return inventory.Live{}
	case object == nil:
		return inventory.Live{Presence: inventory.Absent}
	}
	return inventory.Live{
		Presence: inventory.Present, UID: object.GetUID(), Owner: object.GetAnnotations()[c.inst.OwnerKey],
		Fields:      inventory.FieldsOf(object, c.inst.FieldManager),
		Terminating: object.GetDeletionTimestamp() != nil,
	}
}

// repeated calls pass until it waits for nothing, as long as Wait allows. What may pass by itself is tried again, too.
func (c *call) repeated(ctx context.Context, pass func(context.Context) (*waiting, error)) (*waiting, error) {
	until, pause := time.Now().Add(c.inst.Wait), firstPause
	for {
		left, err := pass(ctx)
		if left == nil && err == nil || time.Until(until) <= 0 || ctx.Err() != nil || err != nil && !passes(err) {
			return left, err
		}
		if left == nil {
			left = &waiting{}
		}
		if pause = min(2*pause, longestPause); c.await(ctx, left, pause/2, until) {
			pause = firstPause
		}
	}
}

// passes reports whether a failure may resolve itself.
func passes(err error) bool {
	own, ok := errors.AsType[*Error](err)
	return ok && slices.Contains([]apply.Class{
		apply.ClassConflict, apply.ClassInternal, apply.ClassKindUnknown, apply.ClassNamespaceTerminating, apply.ClassThrottled,
		apply.ClassUnreachable,
	}, apply.Class(own.Reason))
}

func invalid(format string, args ...any) error {
	return &Error{Reason: ReasonInstallationInvalid, Err: fmt.Errorf(format, args...)}
}

// called returns why a call of our own about an object failed.
func called(verb string, id inventory.ID, err error, quotable ...*unstructured.Unstructured) error {
	told := apply.Explain(verb, id, err, quotable...)
	return &Error{Reason: string(told.Class), Err: told}
}
