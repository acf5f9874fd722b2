package kyma

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The users of a runtime may change what they ask for this often at once, and then this often: more than anybody edits by hand, and less
// than would keep the hub busy.
const (
	editsAtOnce  = 20
	editInterval = 3 * time.Second
)

// pacer is the pace of one Kyma.
type pacer struct {
	limiter *rate.Limiter
	// accepted is what was taken over last. It counts until it changes, also while the status cannot tell of it yet: to take it over and
	// back again would install and uninstall modules.
	accepted *v1beta2.SeenSpec
}

// paced says how long what a runtime asks for is to be left as it was seen last; zero means that it is taken over now.
func (r *Reconciler) paced(s *side, seen *v1beta2.SeenSpec) time.Duration {
	last := s.hub.Status.LastSeen
	if last == nil || last.Runtime == nil || equality.Semantic.DeepEqual(last.Runtime, seen) {
		return 0
	}
	known, _ := r.paces.LoadOrStore(client.ObjectKeyFromObject(s.hub), &pacer{limiter: rate.NewLimiter(rate.Every(editInterval), editsAtOnce)})
	held, ok := known.(*pacer)
	switch {
	case !ok, held.accepted != nil && equality.Semantic.DeepEqual(held.accepted, seen):
	case held.limiter.AllowN(r.Now().Time, 1):
		held.accepted = seen
	default:
		return editInterval
	}
	return 0
}
