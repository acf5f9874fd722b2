package statusreader

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// paged answers lists of Kymas in pages.
type paged struct {
	client.Reader
	pages [][]v1beta2.Kyma
	calls []client.ListOptions
	err   error
}

func (p *paged) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	p.calls = append(p.calls, asked)
	if p.err != nil && len(p.calls) > 1 {
		return p.err
	}
	kymas := list.(*v1beta2.KymaList)
	kymas.Items = append(kymas.Items, p.pages[len(p.calls)-1]...)
	if len(p.calls) < len(p.pages) {
		kymas.Continue = fmt.Sprint("page-", len(p.calls)) // decoding a last page keeps what was there: nothing clears it
	}
	return nil
}

func kyma(name string) v1beta2.Kyma {
	k := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: name, Labels: map[string]string{"a": "b"}}}
	k.Spec.Modules = []v1beta2.Module{{Name: "eventing"}, {Name: "other"}}
	k.Status.Modules = []v1beta2.ModuleStatus{{Name: "other"}, {Name: "eventing", Version: "1.0.0"}}
	k.Status.LastSeen = &v1beta2.LastSeen{Runtime: &v1beta2.SeenSpec{Channel: "fast", Modules: []v1beta2.SeenModule{{Name: "eventing"}}}}
	return k
}

func TestReadMembers_Pages(t *testing.T) {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "eventing"}}
	reader := &paged{pages: [][]v1beta2.Kyma{{kyma("a"), kyma("b")}, {kyma("c")}}}
	in, err := ReadMembers(t.Context(), reader, release)
	if err != nil || len(in.Kymas) != 3 || len(reader.calls) != 2 {
		t.Fatalf("%d Kymas in %d calls, %v", len(in.Kymas), len(reader.calls), err)
	}
	for i, next := range []string{"", "page-1"} {
		if call := reader.calls[i]; call.Limit != pageSize || call.Continue != next || call.Namespace != "kcp-system" {
			t.Errorf("call %d asked for %+v", i, call)
		}
	}
	kept := in.Kymas[0]
	if len(kept.Spec.Modules) != 1 || len(kept.Status.Modules) != 1 || kept.Status.Modules[0].Version != "1.0.0" || kept.Labels != nil {
		t.Errorf("what is kept of a Kyma is %+v", kept)
	}
}

func TestReadMembers_APartIsNotAll(t *testing.T) {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "eventing"}}
	reader := &paged{
		pages: [][]v1beta2.Kyma{{kyma("a")}, {kyma("b")}},
		err:   apierrors.NewForbidden(schema.GroupResource{Resource: "kymas"}, "", nil),
	}
	in, err := ReadMembers(t.Context(), reader, release)
	if err != nil || len(in.Kymas) != 0 || len(in.Unread) != 1 || !strings.Contains(in.Unread[0].Message(), "you may not list Kyma") {
		t.Errorf("%d Kymas, unread %+v, %v", len(in.Kymas), in.Unread, err)
	}
}
