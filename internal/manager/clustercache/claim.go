package clustercache

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// claim is what is known of the hub that a runtime belongs to: the annotation of a namespace that is watched anyway. It is read with every
// probe, so that what happened during an outage is known before the first write after it.
type claim struct {
	mu      sync.Mutex
	known   bool
	holder  string
	version uint64 // resourceVersion that holder was read from
	pace    *rate.Limiter
	delayed bool // the owners are told of a change soon
}

// The users of a runtime may change the claim this often at once, and then this often, so that it is told at once: each change writes the
// status of every module on the hub.
const (
	claimChangesAtOnce  = 10
	claimChangeInterval = 5 * time.Second
)

// allow reports whether a change of the claim is told at once.
func (c *claim) allow(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pace == nil {
		c.pace = rate.NewLimiter(rate.Every(claimChangeInterval), claimChangesAtOnce)
	}
	return !c.delayed && c.pace.AllowN(now, 1)
}

// later tells of the changes until then at once.
func (c *claim) later(tell func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.delayed {
		return
	}
	c.delayed = true
	time.AfterFunc(claimChangeInterval, func() {
		c.mu.Lock()
		c.delayed = false
		c.mu.Unlock()
		tell()
	})
}

// set records the holder as of a resourceVersion, zero for a namespace that was not there when it was read, and returns the one before
// and whether it counts: a stream may lag behind what was read or written.
func (c *claim) set(holder string, version uint64) (before string, counts bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.holder
	if version != 0 && version < c.version {
		return before, false
	}
	c.known, c.holder, c.version = true, holder, version
	return before, true
}

// reset forgets what was known before an outage: a cluster that comes back from a backup counts from an earlier resourceVersion on.
func (c *claim) reset(holder string, version uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.holder, c.version = true, holder, version
}

// lose records that the namespace is gone, or lost the label by which it is watched.
func (c *claim) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = false
}

func (c *claim) get() (holder string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holder, c.known
}

// isClaimed reports whether an object is the one that carries the claim.
func isClaimed(gk schema.GroupKind, name string) bool {
	return gk == namespaceKind && name == v1beta2.RuntimeNamespace
}

// Claim returns the hub that the runtime belongs to, empty for none; known is false until that was read, and after it was lost from sight.
func (r *Runtime) Claim() (holder string, known bool) { return r.conn.claim.get() }

// SetClaim records the namespace that carries the claim as it was just read or written; nil means that it does not exist. Owners that
// waited for the claim are enqueued.
func (r *Runtime) SetClaim(live *unstructured.Unstructured) {
	holder, version := "", uint64(0)
	if live != nil {
		holder, version = live.GetAnnotations()[v1beta2.AnnotationHub], wire.Numeric(live.GetResourceVersion())
	}
	r.conn.claim.set(holder, version)
	if holder == r.cfg.HubID {
		r.conn.tell(priority.Soon, r.conn.takeWaitingOwners()...)
	}
}

// observeClaim records the claim of a namespace as a list or a stream shows it. From here on no write is sent that it does not allow.
func (r *Runtime) observeClaim(metadata *wire.Metadata) {
	holder := metadata.Annotations[v1beta2.AnnotationHub]
	before, counts := r.conn.claim.set(holder, wire.Numeric(metadata.ResourceVersion))
	if !counts || r.cfg.Claims == nil || holder == before {
		return
	}
	if r.conn.claim.allow(time.Now()) {
		r.tellOfClaim()
		return
	}
	r.conn.claim.later(func() {
		if r.conn.ctx.Err() == nil {
			r.tellOfClaim()
		}
	})
}

// tellOfClaim enqueues the owners that the runtime's change of hands concerns: of one that is no hub's the Kymas, which claim it; of this
// hub's own those that were refused; of another hub's all.
func (r *Runtime) tellOfClaim() {
	var owners []types.NamespacedName
	switch holder, _ := r.Claim(); holder {
	case "":
		owners = slices.DeleteFunc(r.allOwners(), func(owner types.NamespacedName) bool {
			role, _ := roleOf(owner)
			return role != Kymas
		})
	case r.cfg.HubID:
		owners = r.conn.takeWaitingOwners()
	default:
		owners = r.allOwners()
	}
	r.conn.tell(priority.Soon, owners...)
}

// readClaim reads the claim. Without the right to read the namespace there is none to respect, and the Kyma that must claim the runtime
// finds out why it cannot.
func (c *connection) readClaim(ctx context.Context) error {
	metadata, err := c.readNamespace(ctx, v1beta2.RuntimeNamespace)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		c.claim.reset("", 0)
	case err != nil:
		return err
	default:
		c.claim.reset(metadata.Annotations[v1beta2.AnnotationHub], wire.Numeric(metadata.ResourceVersion))
	}
	return nil
}

// checkClaim refuses a runtime that is not this hub's to write to, by the rule of its Kyma. An owner that is refused is
// enqueued when this hub has the claim.
func (f *Clusters) checkClaim(r *Runtime, t Target) *runtimes.Problem {
	if f.cfg.Claims == nil || t.Local || t.Claiming {
		return nil
	}
	switch r.judgeClaim() {
	case module.OtherHub:
		holder, _ := r.Claim()
		r.conn.awaitClaim(t.Owner)
		return runtimes.ClaimedBy(f.cfg.HubID, holder, types.NamespacedName{Namespace: t.Namespace, Name: t.Name})
	case module.ClaimPending:
		r.conn.awaitClaim(t.Owner)
		if r.judgeClaim() == module.MayWrite {
			r.conn.forget(t.Owner) // it came meanwhile
			return nil
		}
		r.rereadClaim()
		return &runtimes.Problem{
			Reason: v1beta2.ReasonRuntimeConnecting, Passing: true, Retry: retryReplaced,
			Message: fmt.Sprintf("Kyma %s/%s has not claimed its runtime for this hub yet", t.Namespace, t.Name),
		}
	case module.MayWrite:
	}
	return nil
}

// rereadClaim reads a claim that was lost from sight where no pass of a Kyma does: of one that claims nothing.
func (r *Runtime) rereadClaim() {
	_, known := r.Claim()
	if !known && r.cfg.Claims(r.conn.target.Namespace, r.conn.target.Name) != module.ClaimRequired {
		r.conn.probe()
	}
}

func (c *connection) awaitClaim(owner types.NamespacedName) {
	if owner == (types.NamespacedName{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaiting[owner] = struct{}{}
}

func (r *Runtime) judgeClaim() module.ClaimVerdict {
	holder, known := r.Claim()
	return module.JudgeClaim(r.cfg.Claims(r.conn.target.Namespace, r.conn.target.Name), r.cfg.HubID, holder, known)
}

// claimFence is a transport that sends no write to a runtime that is not this hub's by what is known now, however long ago the pass began
// that writes. It answers with a conflict, after which the pass is repeated.
type claimFence struct {
	next    http.RoundTripper
	runtime *Runtime
}

// RoundTrip implements http.RoundTripper.
func (f claimFence) RoundTrip(req *http.Request) (*http.Response, error) {
	if !changes(req) || runtimes.IsClaiming(req.Context()) || f.runtime.judgeClaim() == module.MayWrite {
		return f.next.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close()
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict,
		Code: http.StatusConflict, Message: "not sent: the runtime is not, or no longer, claimed for this hub",
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "409 Conflict", StatusCode: http.StatusConflict, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// changes reports whether a request changes something: reviews of rights only ask.
func changes(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return !strings.Contains(req.URL.Path, "/apis/authorization.k8s.io/") && !strings.Contains(req.URL.Path, "/apis/authentication.k8s.io/")
}
