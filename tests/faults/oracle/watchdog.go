package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// Watchdog inspects objects at the moment when they are deleted, because afterwards their owner cannot be determined.
type Watchdog struct {
	mutex    sync.Mutex
	problems []string
}

// Guard installs a Watchdog in front of the runtimes of a new rig, behind all faults, so that it sees only calls that reach them.
func Guard(r *rig.Rig) (*Watchdog, error) {
	w := &Watchdog{}
	for _, server := range r.Runtimes {
		client, err := rest.HTTPClientFor(server.Config)
		if err != nil {
			return nil, err
		}
		server.Proxy.Use("oracle", proxy.Only(func(call proxy.Call) bool {
			return call.Mutating && call.Verb == "delete"
		}, w.look(server, client)))
	}
	return w, nil
}

func (w *Watchdog) look(server *rig.Server, client *http.Client) proxy.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
			call := proxy.CallOf(request.Context())
			live, err := live(request.Context(), client, strings.TrimSuffix(server.Config.Host, "/")+request.URL.Path)
			switch {
			case request.Context().Err() != nil: // the client has ended, and the request goes nowhere
			case err != nil:
				w.addf("%s: cannot see what is deleted: %v", call, err)
			case live != nil && call.UID == "":
				w.addf("%s in %s: deleted without saying which one by its UID", call, call.Server)
			case live != nil && string(live.UID) == call.UID && !ours(live):
				w.addf("%s in %s: deleted, though it is not marked as ours: labels %v, annotations %v",
					call, call.Server, live.Labels, live.Annotations)
			}
			next.ServeHTTP(out, request)
		})
	}
}

// live returns the metadata of an object; nil when it does not exist.
func live(ctx context.Context, client *http.Client, url string) (*metav1.ObjectMeta, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusNotFound {
		return nil, nil //nolint:nilnil // nothing there, and nothing wrong
	}
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	object := &metav1.PartialObjectMetadata{}
	return &object.ObjectMeta, json.Unmarshal(data, object)
}

// ours reports whether an object carries a mark of the hub: the label or annotation of installed objects, or the field manager of a default
// custom resource, which has neither because it is the user's.
func ours(object *metav1.ObjectMeta) bool {
	owner := object.Annotations[v1beta2.AnnotationOwnedBy]
	return object.Labels[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma && !strings.Contains(owner, "somebody-else") ||
		strings.HasPrefix(owner, v1beta2.DefaultNamespace+"/kyma-") ||
		slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager == v1beta2.FieldManagerModuleCR
		})
}

func (w *Watchdog) addf(format string, values ...any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, values...))
}

// bites returns the problems since the last call.
func (w *Watchdog) bites() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	problems := w.problems
	w.problems = nil
	return problems
}

// Never lists everything that happened since a Scenario began and must not, whatever the fault was, including deletes of others' objects.
func (w *Watchdog) Never(ctx context.Context, s *operation.Scenario) []string {
	problems := slices.Concat(never(s), untouched(ctx, s)) // untouched may wait a moment
	return append(w.bites(), problems...)
}
