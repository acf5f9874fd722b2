package clustercache

import (
	"encoding/json"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pendingDeleteTimeout is how long a stream may take to report the end of an object that we deleted. Afterwards the delete may be repeated:
// the event may have been lost. A variable, because tests also run on machines that are ten times slower.
var pendingDeleteTimeout = 5 * time.Second

// pendingDelete is an accepted DELETE of ours.
type pendingDelete struct {
	uid   types.UID
	until time.Time
}

// markDeletingLocked records that an object is being deleted, which the stream may not show yet. The caller holds the lock.
func (k *kind) markDeletingLocked(at objectKey, uid types.UID) {
	if o := k.objects[at]; o == nil || uid == "" || o.uid != uid {
		return
	}
	if k.pendingDeletes == nil {
		k.pendingDeletes = make(map[objectKey]pendingDelete)
	}
	k.pendingDeletes[at] = pendingDelete{uid: uid, until: time.Now().Add(pendingDeleteTimeout)}
}

// isDeletingLocked reports whether an object was marked as deleting a moment ago. The caller holds the lock.
func (k *kind) isDeletingLocked(at objectKey, o *object) bool {
	s, condemned := k.pendingDeletes[at]
	return condemned && s.uid == o.uid && time.Now().Before(s.until)
}

// uidPrecondition returns the UID precondition of a DELETE; empty without one, and for a dry run.
func uidPrecondition(req *http.Request) types.UID {
	if req.GetBody == nil {
		return ""
	}
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	defer func() { _ = body.Close() }()
	var options metav1.DeleteOptions
	readable := json.NewDecoder(body).Decode(&options) == nil
	if !readable || len(options.DryRun) > 0 || options.Preconditions == nil || options.Preconditions.UID == nil {
		return ""
	}
	return *options.Preconditions.UID
}
