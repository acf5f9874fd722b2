package server

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// mostSeen bounds how many snapshots, one for each set of permissions, are kept at once.
const mostSeen = 64

// snapshot holds the modules for all users with the same permissions. It must not be changed.
type snapshot struct {
	beat   uint64
	scopes map[place]scope

	in      modulestatus.Inputs
	unread  []Unread
	kymas   []modulestatus.KymaLine
	modules []modulestatus.Module
	offers  []modulestatus.Offer
	// rollouts are read beside all this, since pages must not depend on them.
	rollouts rolloutsSeen

	kymaText, moduleText []string
	manifests            map[modulestatus.Key][]int
	kymaAt               map[modulestatus.Key]int

	mutex  sync.Mutex
	orders map[string][]int
	// troubles are those of the modules, at the same indexes, and choices what lists can be filtered by. Both are computed when they are first
	// needed.
	troubles func() []*modulestatus.Trouble
	choices  func() filterChoices
	// sourced are the same with versions of sources, by these versions.
	sourced map[string]*snapshot
}

// snapshot returns what a user may see, as of the last beat, with the versions that sources have for the modules that came from them.
func (s *Server) snapshot(ctx context.Context, u *User) (*snapshot, error) {
	now, err := s.ofCluster(ctx, u)
	if err != nil {
		return nil, err
	}
	return s.withSources(ctx, u, now), nil
}

// ofCluster returns what a user may see of the cluster. It is computed once for all users with the same permissions.
func (s *Server) ofCluster(ctx context.Context, u *User) (*snapshot, error) {
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
	in, err := statusreader.Read(ctx, read, statusreader.Scope{})
	if err != nil {
		return nil, err
	}
	partial := read.partial()
	made := newSeen(narrowed(in, partial))
	made.unread = append(unreadOf(&made.in, partial), s.watches.stale(read.scopes)...)
	made.beat, made.scopes = beat, read.scopes
	rollouts, scopes := s.watches.readRollouts(ctx, u)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	made.rollouts = rollouts
	maps.Copy(made.scopes, scopes)
	s.pulse.cost(time.Since(began))
	s.keep(made)
	return made, nil
}

// computed returns what was computed in this beat for a user with the same permissions, or nil.
func (s *Server) computed(ctx context.Context, u *User, beat uint64) (*snapshot, error) {
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

// keep puts a snapshot first, and drops those of older beats.
func (s *Server) keep(made *snapshot) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := []*snapshot{made}
	for _, one := range s.kept {
		if one.beat >= made.beat && len(all) < mostSeen {
			all = append(all, one)
		}
	}
	s.kept = all
}

// newSeen computes everything that pages show from the inputs.
func newSeen(in modulestatus.Inputs) *snapshot {
	picture := modulestatus.PictureOf(in)
	s := &snapshot{
		in: in, kymas: picture.Kymas, modules: picture.Modules, offers: picture.Offers,
		manifests: map[modulestatus.Key][]int{}, kymaAt: map[modulestatus.Key]int{}, orders: map[string][]int{},
	}
	s.troubles = sync.OnceValue(func() []*modulestatus.Trouble { return modulestatus.TroublesOf(s.modules) })
	s.choices = sync.OnceValue(s.filterChoices)
	for i := range s.kymas {
		s.kymaText = append(s.kymaText, textOfKyma(&s.kymas[i]))
	}
	for i := range s.modules {
		s.moduleText = append(s.moduleText, textOfModule(&s.modules[i]))
	}
	for i := range in.Manifests {
		m := &in.Manifests[i]
		key := modulestatus.Key{Namespace: m.Namespace, Name: module.KymaName(m)}
		s.manifests[key] = append(s.manifests[key], i)
	}
	for i := range in.Kymas {
		s.kymaAt[modulestatus.Key{Namespace: in.Kymas[i].Namespace, Name: in.Kymas[i].Name}] = i
	}
	return s
}

func textOfKyma(k *modulestatus.KymaLine) string {
	return strings.ToLower(strings.Join([]string{k.Namespace + "/" + k.Name, string(k.State), k.Channel, k.Reason, k.Message}, " "))
}

func textOfModule(m *modulestatus.Module) string {
	return strings.ToLower(strings.Join([]string{
		m.Name, m.Kyma, string(m.Type), string(m.State), m.Channel, m.Version.Desired, m.Version.Installed,
		m.Installation.Reason, m.Installation.Message, m.Module.Reason, m.Module.Message,
	}, " "))
}

// around returns the inputs for one Kyma and its modules alone; without a Kyma, those for modules installed without one.
func (s *snapshot) around(kyma modulestatus.Key) modulestatus.Inputs {
	in := s.in
	in.Kymas, in.Manifests = nil, nil
	if kyma != (modulestatus.Key{}) {
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

// module returns a module of a Kyma, or one without a Kyma if that is empty. A requested module takes precedence over a mandatory one.
func (s *snapshot) module(kyma, name string) *modulestatus.Module {
	var found *modulestatus.Module
	for i := range s.modules {
		if m := &s.modules[i]; m.Kyma == kyma && m.Name == name && (found == nil || !m.Mandatory) {
			found = m
		}
	}
	return found
}

// offer returns the offer of a module, from the given namespace if it is there.
func (s *snapshot) offer(namespace, name string) *modulestatus.Offer {
	var found *modulestatus.Offer
	for i := range s.offers {
		if o := &s.offers[i]; o.Name == name && (found == nil || o.Namespace == namespace) {
			found = o
		}
	}
	return found
}

func toUnstructured(o client.Object) (*unstructured.Unstructured, error) {
	kind, err := apiutil.GVKForObject(o, scheme())
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

// forbiddenKind reports whether the user may not read a kind of ours at all.
func (s *snapshot) forbiddenKind(kind string) bool {
	want := schema.GroupKind{Group: ownGroup, Kind: kind}.String()
	for _, u := range s.unread {
		if u.Kind == want {
			return true
		}
	}
	return false
}
