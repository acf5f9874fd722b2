package server

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/resourcetree"
)

// mostLooked bounds how many objects of one module are read at once.
const mostLooked = 200

// connection is the way of a user to a cluster.
type connection struct {
	client.Client

	config *rest.Config
}

// runtimeOf returns a client for the cluster of a Kyma, built from what the requesting user may read.
func (s *Server) runtimeOf(ctx context.Context, u *User, kyma *v1beta2.Kyma) (client.Client, error) {
	return s.connectionOf(ctx, u, kyma)
}

// connectionOf returns the user's way to the cluster of a Kyma, or to the hub for the modules without one.
func (s *Server) connectionOf(ctx context.Context, u *User, kyma *v1beta2.Kyma) (*connection, error) {
	if kyma == nil || modulestatus.Here(kyma) {
		return &connection{u.Client, u.Config}, nil
	}
	key := "runtime " + kyma.Namespace + "/" + kyma.Name
	beyond(ctx)
	return recalled(ctx, u, key, func(ctx context.Context) (*connection, error) {
		config, err := s.reach(ctx, u.Client, u.Config, kyma)
		if err != nil {
			return nil, err
		}
		mapper, err := mapperOf(config)
		if err != nil {
			return nil, err
		}
		made, err := connect(config, mapper)
		if err != nil {
			return nil, err
		}
		return &connection{made, config}, nil
	})
}

// objectsRead is the result of reading a module's objects.
type objectsRead struct {
	mutex   sync.Mutex
	objects []*unstructured.Unstructured
	looked  []modulestatus.ListedKind
	unread  []modulestatus.Unread
	// outcomes is what was found out about each object, by its ID.
	outcomes map[string]outcomeOfRead
}

// outcomeOfRead is what was found out about an object that was read.
type outcomeOfRead struct {
	presence resourcetree.Presence
	message  string
}

// looking reads some objects one by one, eight at a time. An object that does not exist counts as looked for; failures are recorded.
func looking(ctx context.Context, from client.Reader, refs []modulestatus.Ref) *objectsRead {
	l := &objectsRead{outcomes: map[string]outcomeOfRead{}}
	refs = refs[:min(len(refs), mostLooked)]
	each(len(refs), func(i int) {
		ref := refs[i]
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		err := from.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, o)
		l.add(ref, o, err)
	})
	return l
}

func (l *objectsRead) add(ref modulestatus.Ref, o *unstructured.Unstructured, err error) {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.outcomes[resourcetree.IDOf(ref)] = outcomeOf(ref, err)
	switch {
	case err == nil:
		l.objects = append(l.objects, o)
		fallthrough
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		l.looked = append(l.looked, modulestatus.ListedKind{GroupKind: kind, Namespace: ref.Namespace})
		if ref.Namespace == "" {
			l.looked = append(l.looked, modulestatus.ListedKind{GroupKind: kind})
		}
	default:
		l.unread = append(l.unread, modulestatus.Unread{
			GroupKind: kind, Namespace: ref.Namespace, Forbidden: apierrors.IsForbidden(err), Text: problemOf(err).Message,
		})
	}
}

// outcomeOf returns what the result of a read says about an object.
func outcomeOf(ref modulestatus.Ref, err error) outcomeOfRead {
	switch {
	case err == nil:
		return outcomeOfRead{resourcetree.Present, ""}
	case meta.IsNoMatchError(err):
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		return outcomeOfRead{resourcetree.Missing, "the cluster does not serve " + kind.String() + ": its definition is gone"}
	case apierrors.IsNotFound(err):
		return outcomeOfRead{resourcetree.Missing, "it does not exist"}
	case apierrors.IsForbidden(err):
		return outcomeOfRead{resourcetree.Unread, "you may not read " + ref.String()}
	}
	return outcomeOfRead{resourcetree.Unread, problemOf(err).Message}
}

// near returns the inputs about one Kyma (nil: the modules without one) with the objects of a module as they are in its cluster. A
// runtime is accessed with the user's permissions; its Kyma is then treated as a local one, so that the same status model judges it. The
// error says why the runtime cannot be read; the data of the hub is returned nevertheless.
func (s *Server) near(ctx context.Context, u *User, in modulestatus.Inputs, m *modulestatus.Module) (modulestatus.Inputs, error) {
	in, _, err := s.nearby(ctx, u, in, m)
	return in, err
}

// nearby is near, with what was found out about each object; that is nil if nothing was read.
func (s *Server) nearby(
	ctx context.Context, u *User, in modulestatus.Inputs, m *modulestatus.Module,
) (modulestatus.Inputs, *objectsRead, error) {
	if len(in.Kymas) != 1 && m.Kyma != "" {
		return in, nil, nil // the Kyma is gone
	}
	var kyma *v1beta2.Kyma
	if len(in.Kymas) == 1 {
		kyma = &in.Kymas[0]
	}
	from, err := s.runtimeOf(ctx, u, kyma)
	if err != nil {
		return in, nil, err
	}
	refs := modulestatus.ObjectsOf(&in, m)
	beyond(ctx)
	found, err := recalled(ctx, u, "objects "+m.Kyma+" "+m.Name, func(ctx context.Context) (*objectsRead, error) {
		return looking(ctx, from, refs), nil
	})
	if err != nil {
		return in, nil, err
	}
	if kyma != nil && !modulestatus.Here(kyma) {
		in.Objects, in.Looked, in.Unread = nil, withoutObjects(in.Looked), nil
		local := *kyma
		local.Spec.Remote = new(bool)
		in.Kymas = []v1beta2.Kyma{local}
	}
	in.Objects = append(slices.Clip(in.Objects), missingFrom(in.Objects, found.objects)...)
	in.Looked = append(slices.Clip(in.Looked), found.looked...)
	in.Unread = append(slices.Clip(in.Unread), found.unread...)
	return in, found, nil
}

// withoutObjects keeps the entries for our own kinds: those objects stay on the hub.
func withoutObjects(all []modulestatus.ListedKind) []modulestatus.ListedKind {
	var kept []modulestatus.ListedKind
	for _, l := range all {
		if l.Group == ownGroup {
			kept = append(kept, l)
		}
	}
	return kept
}

// missingFrom returns the found objects that are not in have.
func missingFrom(have, found []*unstructured.Unstructured) []*unstructured.Unstructured {
	known := map[modulestatus.Ref]bool{}
	for _, o := range have {
		known[refOf(o)] = true
	}
	var all []*unstructured.Unstructured
	for _, o := range found {
		if !known[refOf(o)] {
			all = append(all, o)
		}
	}
	return all
}

func refOf(o *unstructured.Unstructured) modulestatus.Ref {
	return modulestatus.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}
