package clustercache

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestObjectVersion_OfADefinitionIgnoresItsStatus(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	heard := hear(t, b.Clusters, Kymas)
	r := b.mustGet(t, b.remote(t, "digest", cfg))
	owner := types.NamespacedName{Namespace: hubNamespace, Name: "digest"}
	r.Track(Kymas.Owner(owner), []runtimes.Interest{{GroupVersionKind: definitions, Mode: runtimes.Copy}})
	eventually(t, "its kinds are known", func() bool { return len(heard()) == 1 })
	crd := definitionOf(widgets(fmt.Sprintf("digest%d.test", time.Now().UnixNano())), types.NamespacedName{})
	id := idOf(crd)
	own(t, r, crd)
	written, _ := r.ObjectVersion(id)
	established := func() bool {
		result, kept := r.Health(id)
		return kept && result.Status == health.Ready
	}
	eventually(t, "the definition is established", established)
	eventually(t, "the owner hears of it", func() bool { return len(heard()) > 0 })
	crds := at(t, r, foreign, crd)
	if after, _ := r.ObjectVersion(id); after != written {
		t.Errorf("the version is %q, and was %q before the API server wrote the status", after, written)
	}
	if found := b.calls.count("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + crd.GetName()); found > 1 {
		t.Errorf("%d reads of a definition that was established at once", found)
	}

	for _, change := range []struct {
		name, patch string
		moves       bool
	}{
		{"a label", `{"metadata":{"labels":{"theirs":"1"}}}`, true},
		{"an annotation", `{"metadata":{"annotations":{"theirs":"1"}}}`, true},
		{"the spec", `{"spec":{"names":{"shortNames":["w"]}}}`, true},
		{"the same again, which is no change", `{"spec":{"names":{"shortNames":["w"]}}}`, false},
		{"a finalizer, and with it who manages what", `{"metadata":{"finalizers":["digest.test/x"]}}`, true},
		{"without it", `{"metadata":{"finalizers":null}}`, true},
	} {
		before, _ := r.ObjectVersion(id)
		live, err := crds.Patch(t.Context(), crd.GetName(), types.MergePatchType, []byte(change.patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
		must(t, err)
		// The stream tells the same as the whole object does: a syncer compares the two.
		want := string(live.GetUID()) + "/" + strconv.FormatUint(inventory.DefinitionDigest(live), 10)
		eventually(t, change.name+" is seen", func() bool {
			after, _ := r.ObjectVersion(id)
			return after == want
		})
		if moved := want != before; moved != change.moves {
			t.Errorf("%s: the version moved is %t", change.name, moved)
		}
	}

	awaitStorage(t, foreign, crds, crd.GetName())
	must(t, crds.Delete(t.Context(), crd.GetName(), metav1.DeleteOptions{}))
	eventually(t, "the definition is gone", func() bool {
		stamp, known := r.ObjectVersion(id)
		return stamp == "" && known
	})
	own(t, r, crd)
	t.Cleanup(func() { _ = crds.Delete(context.Background(), crd.GetName(), metav1.DeleteOptions{}) })
	if again, _ := r.ObjectVersion(id); again == "" || again == written {
		t.Errorf("the next of its name has the version %q", again)
	}
}

// awaitStorage returns when the API server has set up its storage for the names that a definition has now. One that is deleted before can
// stay for five minutes: the attempt to list its instances fails, the next attempt works on an older version of the definition, and
// there is no third one before the API server's controller looks at all definitions again.
func awaitStorage(t *testing.T, client dynamic.Interface, crds dynamic.ResourceInterface, name string) {
	t.Helper()
	eventually(t, "the definition's names are accepted", func() bool {
		live, err := crds.Get(t.Context(), name, metav1.GetOptions{})
		must(t, err)
		wanted, _, _ := unstructured.NestedMap(live.Object, "spec", "names")
		accepted, _, _ := unstructured.NestedMap(live.Object, "status", "acceptedNames")
		return reflect.DeepEqual(wanted, accepted)
	})
	plural, group, _ := strings.Cut(name, ".")
	eventually(t, "the kind is listed", func() bool {
		_, err := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: plural}).List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
}
