package replicas

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// Names that the manager uses; see docs/operations.md.
const (
	tableLease      = "klm-shards"
	throneLease     = "893110f7.kyma-project.io"
	heartbeats      = "klm-replica-"
	tableAnnotation = "operator.kyma-project.io/buckets"
)

// move is a bucket that changed its owner.
type move struct {
	bucket   int
	from, to string
}

// String returns "7: a -> b".
func (m move) String() string { return fmt.Sprintf("%d: %s -> %s", m.bucket, m.from, m.to) }

// assignmentLog follows the table of bucket owners.
type assignmentLog struct {
	stop  context.CancelFunc
	ended chan struct{}

	mutex sync.Mutex
	table assignment.Assignment
	moves []move
}

// follow begins with the present table.
func follow(ctx context.Context, hub client.WithWatch) *assignmentLog {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &assignmentLog{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		for ctx.Err() == nil {
			l.listen(ctx, hub)
		}
	}()
	return l
}

// listen ends with its stream; the next one begins with what exists.
func (l *assignmentLog) listen(ctx context.Context, hub client.WithWatch) {
	stream, err := hub.Watch(ctx, &coordinationv1.LeaseList{}, client.InNamespace(v1beta2.DefaultNamespace),
		client.MatchingFields{"metadata.name": tableLease})
	if err != nil {
		return
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		lease, ok := event.Object.(*coordinationv1.Lease)
		if !ok {
			continue
		}
		if table, err := assignment.Decode(lease.Annotations[tableAnnotation]); err == nil {
			l.note(table)
		}
	}
}

// note records the changes of a new table. A bucket without an owner does not move when it gets one.
func (l *assignmentLog) note(table assignment.Assignment) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for bucket := range table {
		if from, to := l.table[bucket].Owner, table[bucket].Owner; from != "" && from != to {
			l.moves = append(l.moves, move{bucket: bucket, from: from, to: to})
		}
	}
	l.table = table
}

func (l *assignmentLog) now() assignment.Assignment {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.table
}

// mark returns the argument for since.
func (l *assignmentLog) mark() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.moves)
}

func (l *assignmentLog) since(mark int) []move {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.moves[mark:])
}

// shares returns how many buckets each owner has, and whether any is about to move.
func shares(table assignment.Assignment) (counts map[string]int, moving bool) {
	counts = map[string]int{}
	for _, share := range table {
		if share.Owner != "" {
			counts[share.Owner]++
		}
		moving = moving || share.Next != ""
	}
	return counts, moving
}

// gone returns problems with the moves after a replica ended: each of its buckets moves once, and no other moves.
func gone(moves []move, who string, had int) []string {
	return needless(moves, had, func(m move) bool { return m.from == who && m.to != who }, "the share of "+who)
}

// come returns problems with the moves after a replica was started as one of so many: an even share moves to it, and nothing else moves.
func come(moves []move, who string, replicas int) []string {
	return needless(moves, assignment.Buckets/replicas, func(m move) bool { return m.to == who }, "a share for "+who)
}

func needless(moves []move, must int, fits func(move) bool, what string) []string {
	var others []string
	for _, m := range moves {
		if !fits(m) {
			others = append(others, m.String())
		}
	}
	switch {
	case len(others) > 0:
		return []string{fmt.Sprintf("%d of %d buckets that changed hands are not %s: %s",
			len(others), len(moves), what, strings.Join(others, ", "))}
	case len(moves) != must:
		return []string{fmt.Sprintf("%d buckets changed hands for %s, not %d", len(moves), what, must)}
	}
	return nil
}
