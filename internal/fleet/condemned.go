package fleet

import (
	"encoding/json"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sentenced is how long a stream has to tell of the end of what we deleted. Afterwards whoever wants it gone asks again: the event may have
// been lost. A variable, since tests hold on machines that are ten times slower.
var sentenced = 5 * time.Second

// sentence is a DELETE of ours that was accepted.
type sentence struct {
	uid   types.UID
	until time.Time
}

// condemn notes that an object is on its way out, which the stream may not show yet. The caller holds the lock.
func (k *kind) condemn(at place, uid types.UID) {
	if o := k.objects[at]; o == nil || uid == "" || o.uid != uid {
		return
	}
	if k.condemned == nil {
		k.condemned = make(map[place]sentence)
	}
	k.condemned[at] = sentence{uid: uid, until: time.Now().Add(sentenced)}
}

// leaves says that an object was condemned a moment ago. The caller holds the lock.
func (k *kind) leaves(at place, o *object) bool {
	s, condemned := k.condemned[at]
	return condemned && s.uid == o.uid && time.Now().Before(s.until)
}

// boundTo is the UID that a DELETE asks for; empty where it takes whatever has the name, and where nothing is to be changed.
func boundTo(req *http.Request) types.UID {
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
