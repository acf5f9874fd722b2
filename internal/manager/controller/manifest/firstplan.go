package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// planPatience bounds the wait for content that is not cached. Without a plan, the first pass writes one itself.
	planPatience = time.Second
	// mostPlanned bounds the objects of a plan. Where there are more, one write is not worth saving: it also tells users of a pass that takes
	// long that the objects are being applied.
	mostPlanned = 64
	// longestPlan bounds the annotation, which stays on the Manifest until its spec changes.
	longestPlan = 4 << 10
	// keptPlans is for how many contents the plan is remembered.
	keptPlans = 256
)

// Planner tells what the first pass of a Manifest will apply before the Manifest exists, so that its creation carries the plan and the
// first pass has none to write. In a fleet that comes in that is one of three writes for each module.
type Planner struct {
	content Content
	known   *lru.Cache
}

// NewPlanner returns a Planner for the content of Manifests.
func NewPlanner(content Content) *Planner {
	return &Planner{content: content, known: lru.New(keptPlans)}
}

// Plan returns the value of AnnotationPlan for a Manifest that is about to be created; empty where the plan is not known without a call to
// the runtime, or not soon, or is long. A plan that turns out to differ costs the first pass the write that it was to save. Where a
// ServiceAccount installs, nothing is planned before its rights were looked at: what is planned takes rights to remove.
func (p *Planner) Plan(ctx context.Context, manifest *v1beta2.Manifest) string {
	if manifest.Spec.ServiceAccountName != "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, planPatience)
	defer cancel()
	parts, err := p.content.Parts(ctx, manifest, unasked)
	if err != nil {
		return "" // the first pass reports it
	}
	key := planKey(manifest, parts)
	if known, ok := p.known.Get(key); ok {
		text, _ := known.(string)
		return text
	}
	text := encodePlan(manifest, parts)
	p.known.Add(key, text)
	return text
}

var errUnasked = errors.New("the runtime is not asked before there is a Manifest")

// unasked stands for the capabilities of a runtime. What depends on them is planned by the first pass.
func unasked(context.Context) (runtimes.Capabilities, error) {
	return runtimes.Capabilities{}, errUnasked
}

// planKey is equal for Manifests that install the same objects.
func planKey(manifest *v1beta2.Manifest, parts []Part) [sha256.Size]byte {
	spec := &manifest.Spec
	resolved := make([]v1beta2.ResolvedSource, 0, len(parts))
	for _, part := range parts {
		resolved = append(resolved, part.Source)
	}
	raw, err := json.Marshal([]any{spec.Install, spec.AdditionalInstalls, spec.CRDs, spec.Config, spec.TargetNamespace, resolved})
	if err != nil {
		panic(err) // all of it came from JSON
	}
	return sha256.Sum256(raw)
}

func encodePlan(manifest *v1beta2.Manifest, parts []Part) string {
	w := newScope(manifest, metav1.Time{})
	scope := w.scope(parts)
	for _, part := range parts {
		for _, object := range part.objects() {
			if _, known := scope(object.GroupVersionKind()); !known && object.GetNamespace() == "" {
				return "" // only the runtime tells whether it gets a namespace
			}
		}
	}
	if err := w.arrange(parts); err != nil || len(w.order.Objects) == 0 || len(w.order.Objects) > mostPlanned {
		return ""
	}
	text := base64.StdEncoding.EncodeToString(inventory.Encode(inventory.Planned(nil, w.order.Objects)))
	if len(text) > longestPlan {
		return ""
	}
	return text
}

// hasFirstPlan reports whether the plan that a Manifest was created with counts: no pass has written a status yet, and one may have been
// interrupted after it applied something.
func hasFirstPlan(manifest *v1beta2.Manifest) bool {
	status := &manifest.Status
	return manifest.Annotations[v1beta2.AnnotationPlan] != "" && KymaOf(manifest) != nil &&
		status.ObservedGeneration <= 0 && len(status.Synced) == 0 && len(status.InventoryShards) == 0
}

// readFirstPlan returns the entries of the plan that a Manifest was created with, all of them as planned and not applied.
func readFirstPlan(manifest *v1beta2.Manifest) ([]inventory.Entry, error) {
	packed, err := base64.StdEncoding.DecodeString(manifest.Annotations[v1beta2.AnnotationPlan])
	if err != nil {
		return nil, unreadablePlan(err)
	}
	entries, err := inventory.Decode(packed)
	if err != nil {
		return nil, unreadablePlan(err)
	}
	for i := range entries {
		entries[i].UID, entries[i].Hash, entries[i].Fields = "", "", ""
	}
	return entries, nil
}

func unreadablePlan(err error) error {
	return &runtimes.Problem{
		Reason: v1beta2.ReasonInventoryUnreadable,
		Message: fmt.Sprintf("annotation %s: %v; nothing is changed until it can be read: write it again as it was",
			v1beta2.AnnotationPlan, err),
		Retry: retryTransient,
	}
}
