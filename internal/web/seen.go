package web

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kyma-project/lifecycle-manager/internal/gather"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// mostSeen bounds how many sets of rights are kept at once.
const mostSeen = 64

// seen is what there is of modules, for everybody with the same rights. Nobody changes it.
type seen struct {
	beat   uint64
	scopes map[place]scope

	in      view.Inputs
	unread  []Unread
	kymas   []view.KymaLine
	modules []view.Module
	offers  []view.Offer

	kymaText, moduleText []string
	manifests            map[view.Key][]int
	kymaAt               map[view.Key]int

	mutex  sync.Mutex
	orders map[string][]int
}

// seen is what somebody may see, as of the last beat. It is computed once for everybody with the same rights.
func (s *Server) seen(ctx context.Context, u *User) (*seen, error) {
	beat := s.pulse.number()
	if found, err := s.computed(ctx, u, beat); found != nil || err != nil {
		return found, err
	}
	select {
	case s.computing <- struct{}{}:
		defer func() { <-s.computing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if found, err := s.computed(ctx, u, beat); found != nil || err != nil {
		return found, err
	}
	began := time.Now()
	read := newReading(s.watches, u)
	in, err := gather.Gather(ctx, read, gather.Scope{})
	if err != nil {
		return nil, err
	}
	partial := read.partial()
	made := newSeen(narrowed(in, partial))
	made.unread = append(unreadOf(&made.in, partial), s.watches.stale(read.scopes)...)
	made.beat, made.scopes = beat, read.scopes
	s.pulse.cost(time.Since(began))
	s.keep(made)
	return made, nil
}

// computed is what was computed in this beat for somebody with the same rights, nil when nothing was.
func (s *Server) computed(ctx context.Context, u *User, beat uint64) (*seen, error) {
	s.mutex.Lock()
	all := s.kept
	s.mutex.Unlock()
	for _, one := range all {
		if one.beat < beat {
			continue
		}
		if fits, err := s.watches.fits(ctx, u, one.scopes); fits || err != nil {
			return one, err
		}
	}
	return nil, nil
}

// keep puts what was computed first, and lets go of what is of an older beat.
func (s *Server) keep(made *seen) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := []*seen{made}
	for _, one := range s.kept {
		if one.beat >= made.beat && len(all) < mostSeen {
			all = append(all, one)
		}
	}
	s.kept = all
}

// newSeen computes everything that pages show of what was gathered.
func newSeen(in view.Inputs) *seen {
	picture := view.PictureOf(in)
	s := &seen{
		in: in, kymas: picture.Kymas, modules: picture.Modules, offers: picture.Offers,
		manifests: map[view.Key][]int{}, kymaAt: map[view.Key]int{}, orders: map[string][]int{},
	}
	for i := range s.kymas {
		s.kymaText = append(s.kymaText, textOfKyma(&s.kymas[i]))
	}
	for i := range s.modules {
		s.moduleText = append(s.moduleText, textOfModule(&s.modules[i]))
	}
	for i := range in.Manifests {
		m := &in.Manifests[i]
		key := view.Key{Namespace: m.Namespace, Name: module.KymaName(m)}
		s.manifests[key] = append(s.manifests[key], i)
	}
	for i := range in.Kymas {
		s.kymaAt[view.Key{Namespace: in.Kymas[i].Namespace, Name: in.Kymas[i].Name}] = i
	}
	return s
}

func textOfKyma(k *view.KymaLine) string {
	return strings.ToLower(strings.Join([]string{k.Namespace + "/" + k.Name, string(k.State), k.Channel, k.Reason, k.Message}, " "))
}

func textOfModule(m *view.Module) string {
	return strings.ToLower(strings.Join([]string{
		m.Name, m.Kyma, string(m.Type), string(m.State), m.Channel, m.Version.Desired, m.Version.Installed,
		m.Installation.Reason, m.Installation.Message, m.Module.Reason, m.Module.Message,
	}, " "))
}

// around are the inputs for one Kyma and its modules alone; without a Kyma, for what is installed without one.
func (s *seen) around(kyma view.Key) view.Inputs {
	in := s.in
	in.Kymas, in.Manifests = nil, nil
	if kyma != (view.Key{}) {
		in.Direct = nil
		if at, is := s.kymaAt[kyma]; is {
			in.Kymas = append(in.Kymas, s.in.Kymas[at])
		}
		for _, at := range s.manifests[kyma] {
			in.Manifests = append(in.Manifests, s.in.Manifests[at])
		}
		return in
	}
	for key, all := range s.manifests {
		if key.Name != "" {
			continue
		}
		for _, at := range all {
			in.Manifests = append(in.Manifests, s.in.Manifests[at])
		}
	}
	return in
}

// module is that of a Kyma (or, where that is empty, one without a Kyma), the one that somebody asked for before a mandatory one.
func (s *seen) module(kyma, name string) *view.Module {
	var found *view.Module
	for i := range s.modules {
		if m := &s.modules[i]; m.Kyma == kyma && m.Name == name && (found == nil || !m.Mandatory) {
			found = m
		}
	}
	return found
}

// offer is that of a module, in a namespace if there is one there.
func (s *seen) offer(namespace, name string) *view.Offer {
	var found *view.Offer
	for i := range s.offers {
		if o := &s.offers[i]; o.Name == name && (found == nil || o.Namespace == namespace) {
			found = o
		}
	}
	return found
}

func toUnstructured(o client.Object) (*unstructured.Unstructured, error) {
	kind, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		return nil, err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	made := &unstructured.Unstructured{Object: fields}
	made.SetGroupVersionKind(kind)
	return made, nil
}

// forbiddenKind says whether somebody may not read a kind of ours at all.
func (s *seen) forbiddenKind(kind string) bool {
	want := schema.GroupKind{Group: ownGroup, Kind: kind}.String()
	for _, u := range s.unread {
		if u.Kind == want {
			return true
		}
	}
	return false
}
