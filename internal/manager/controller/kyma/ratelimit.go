package kyma

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The users of a runtime may change its spec this often at once, and then this often: more often than users edit by hand, and not often
// enough to keep the hub busy.
const (
	editsAtOnce  = 20
	editInterval = 3 * time.Second
)

// specRateLimiter limits the changes of one Kyma.
type specRateLimiter struct {
	limiter *rate.Limiter
	// accepted is the spec that was accepted last. It counts until it changes, also before the status records it: to accept it and revert it
	// would install and uninstall modules.
	accepted *v1beta2.SeenSpec
}

// editDelay returns how long the runtime's spec must be left as it was seen last; zero means that it is accepted now.
func (r *Reconciler) editDelay(s *remoteScope, seen *v1beta2.SeenSpec) time.Duration {
	last := s.hub.Status.LastSeen
	if last == nil || last.Runtime == nil || equality.Semantic.DeepEqual(last.Runtime, seen) {
		return 0
	}
	known, _ := r.paces.LoadOrStore(client.ObjectKeyFromObject(s.hub),
		&specRateLimiter{limiter: rate.NewLimiter(rate.Every(editInterval), editsAtOnce)})
	held, ok := known.(*specRateLimiter)
	switch {
	case !ok, held.accepted != nil && equality.Semantic.DeepEqual(held.accepted, seen):
	case held.limiter.AllowN(r.Now().Time, 1):
		held.accepted = seen
	default:
		return editInterval
	}
	return 0
}
