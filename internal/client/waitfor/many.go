package waitfor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

// ManyOptions describe what to wait for in many Kymas.
type ManyOptions struct {
	// Kymas has what to wait for in each; their timeouts do not count.
	Kymas []Options
	// Namespace of all of them; empty means that they are in several.
	Namespace string
	// Timeout ends the wait with the current states; 0 means never.
	Timeout time.Duration
}

// beat is how often it is looked which problems have lasted, and how often WaitMany reports.
const beat = time.Second

// WaitMany is Wait for many Kymas. It follows all of them by one list, in pages, and one watch, and reads no Manifests: what the Kymas say
// of themselves counts. A Kyma whose wait is over is not looked at again. report is called about once a second, never concurrently, with
// how many Kymas are how far. The outcomes are in the order of the request.
func WaitMany(ctx context.Context, c client.WithWatch, ask ManyOptions, report func(map[End]int)) ([]Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var timeout <-chan time.Time
	if ask.Timeout > 0 {
		timer := time.NewTimer(ask.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	events, group := make(chan event), newGroup(ask.Kymas)
	go group.watch(ctx, c, ask.Namespace, events)
	for group.open() > 0 {
		select {
		case <-ctx.Done():
			return group.outcomes(false), ctx.Err()
		case <-timeout:
			return group.outcomes(true), nil
		case <-ticker.C:
			group.wait(time.Now())
			report(group.ends())
		case e := <-events:
			if e.err != nil {
				return group.outcomes(false), e.err
			}
			e.apply(nil)
		}
	}
	return group.outcomes(false), nil
}

// member follows one of many Kymas.
type member struct {
	follower

	// changed is when a line changed last, and ended whether the wait is over.
	changed time.Time
	ended   bool
}

// group follows many Kymas.
type group struct {
	members []*member
	byKey   map[client.ObjectKey]*member
}

func newGroup(asks []Options) *group {
	g := &group{byKey: map[client.ObjectKey]*member{}}
	for _, ask := range asks {
		m := &member{changed: time.Now()}
		m.follower = follower{ask: ask, told: map[string]Progress{}, report: func(Progress) { m.changed = time.Now() }}
		g.members, g.byKey[ask.Kyma] = append(g.members, m), m
	}
	return g
}

// see judges a member anew. patient means that nothing changed for a while.
func (m *member) see(patient bool) {
	if !m.ended {
		m.ended = m.look(patient)
	}
}

// open returns how many waits are not over.
func (g *group) open() int {
	count := 0
	for _, m := range g.members {
		if !m.ended {
			count++
		}
	}
	return count
}

// wait ends the waits for those whose problem has lasted.
func (g *group) wait(now time.Time) {
	for _, m := range g.members {
		if now.Sub(m.changed) >= cmp.Or(m.ask.Patience, settled) {
			m.see(true)
		}
	}
}

// ends returns how many Kymas are how far.
func (g *group) ends() map[End]int {
	counts := map[End]int{}
	for _, m := range g.members {
		end := Open
		if m.ended {
			end, _, _ = m.outcome(false).End()
		}
		counts[end]++
	}
	return counts
}

func (g *group) outcomes(timedOut bool) []Outcome {
	all := make([]Outcome, 0, len(g.members))
	for _, m := range g.members {
		all = append(all, m.outcome(timedOut && !m.ended))
	}
	return all
}

// watch follows the Kymas until the context ends.
func (g *group) watch(ctx context.Context, c client.WithWatch, namespace string, events chan<- event) {
	var options []client.ListOption
	if namespace != "" {
		options = append(options, client.InNamespace(namespace))
	}
	s := &stream{
		client: c, events: events, options: options, list: func() client.ObjectList { return &v1beta2.KymaList{} },
		pages: func(ctx context.Context) (client.ObjectList, error) { return g.list(ctx, c, options) },
		listed: func(_ *seen, list client.ObjectList) {
			for _, m := range g.members {
				m.seen = seen{looked: true}
			}
			if kymas, is := list.(*v1beta2.KymaList); is {
				for i := range kymas.Items {
					g.byKey[client.ObjectKeyFromObject(&kymas.Items[i])].seen.kyma = &kymas.Items[i]
				}
			}
			for _, m := range g.members {
				m.see(false)
			}
		},
		changed: func(_ *seen, object client.Object, gone bool) {
			m := g.byKey[client.ObjectKeyFromObject(object)]
			if m == nil {
				return
			}
			m.seen.kyma = nil
			if kyma, is := object.(*v1beta2.Kyma); is && !gone {
				m.seen.kyma = kyma
			}
			m.see(false)
		},
	}
	if err := s.run(ctx); err != nil {
		send(ctx, events, event{err: fmt.Errorf("watch Kymas: %w", err)})
	}
}

// list reads the Kymas of the group, in pages.
func (g *group) list(ctx context.Context, c client.Reader, options []client.ListOption) (client.ObjectList, error) {
	kept, page := &v1beta2.KymaList{}, &v1beta2.KymaList{}
	version, err := statusreader.Pages(ctx, c, page, func() {
		for i := range page.Items {
			if kyma := &page.Items[i]; g.byKey[client.ObjectKeyFromObject(kyma)] != nil {
				kyma.ManagedFields = nil
				kept.Items = append(kept.Items, *kyma)
			}
		}
		page.Items = nil
	}, options...)
	kept.ResourceVersion = version
	return kept, err
}
