package assignment

import (
	"cmp"
	"slices"
)

// ReplicaState is what a replica may own, as observed.
type ReplicaState int

const (
	// Gone may own nothing: what it owned is free. It is also the state of a replica that is not listed.
	Gone ReplicaState = iota
	// Keeping was not seen to change lately: it keeps what it owns and gets nothing.
	Keeping
	// Taking is working: it keeps what it owns and gets its share.
	Taking
	// Leaving is about to end: it owns its buckets until it has released them.
	Leaving
)

// Plan returns the next Assignment for the replicas in their current states.
//
//  1. A bucket stays with its owner or next owner, as long as that one is Keeping or Taking.
//  2. The buckets of Keeping replicas are set aside; the Taking ones share the rest, so that no two shares differ by more than one. Those
//     that have most already get the larger shares.
//  3. A replica with more than its share gives up buckets that it has not started with yet, then those with the highest numbers.
//  4. Free buckets go to the replicas with less than their share, in the order of their names.
//  5. A bucket whose owner is gone changes hands at once; one whose owner is there gets a next owner.
func Plan(table Assignment, replicas map[string]ReplicaState) Assignment {
	p := newPlan(&table, replicas)
	p.trimShares()
	p.assignFree()
	next := table
	for bucket := range next {
		next[bucket] = settle(table[bucket], p.future[bucket], replicas)
	}
	return next
}

// settle applies rule 5.
func settle(share BucketAssignment, future string, replicas map[string]ReplicaState) BucketAssignment {
	switch {
	case replicas[share.Owner] == Gone && future != "":
		return BucketAssignment{Owner: future}
	case replicas[share.Owner] == Gone:
		return BucketAssignment{Owner: share.Owner} // no replica can take it; the previous owner stays recorded
	case future == share.Owner:
		return BucketAssignment{Owner: share.Owner}
	default:
		return BucketAssignment{Owner: share.Owner, Next: future}
	}
}

// plan is the state of one call of Plan.
type plan struct {
	table  *Assignment
	future [Buckets]string // who is to have each bucket; empty: it is free
	counts map[string]int
	quotas map[string]int
	taking []string // sorted
}

// newPlan applies rules 1 and 2.
func newPlan(table *Assignment, replicas map[string]ReplicaState) *plan {
	p := &plan{table: table, counts: map[string]int{}, quotas: map[string]int{}}
	for bucket, share := range table {
		for _, name := range []string{share.Next, share.Owner} {
			if standing := replicas[name]; standing == Keeping || standing == Taking {
				p.future[bucket] = name
				p.counts[name]++
				break
			}
		}
	}
	rest := Buckets
	for name, standing := range replicas {
		switch standing {
		case Taking:
			p.taking = append(p.taking, name)
		case Keeping:
			rest -= p.counts[name]
		case Gone, Leaving:
		}
	}
	slices.Sort(p.taking)
	richest := slices.Clone(p.taking)
	slices.SortStableFunc(richest, func(a, b string) int { return cmp.Compare(p.counts[b], p.counts[a]) })
	for at, name := range richest {
		p.quotas[name] = rest / len(richest)
		if at < rest%len(richest) {
			p.quotas[name]++
		}
	}
	return p
}

// trimShares applies rule 3.
func (p *plan) trimShares() {
	for _, begun := range []bool{false, true} {
		for bucket := Buckets - 1; bucket >= 0; bucket-- {
			name := p.future[bucket]
			quota, takes := p.quotas[name]
			if takes && p.counts[name] > quota && (p.table[bucket].Owner == name) == begun {
				p.future[bucket] = ""
				p.counts[name]--
			}
		}
	}
}

// assignFree applies rule 4. A free bucket goes back to its owner rather than to another replica, where the owner is below its share.
func (p *plan) assignFree() {
	at := 0
	for bucket, name := range p.future {
		if name != "" {
			continue
		}
		if owner := p.table[bucket].Owner; p.counts[owner] < p.quotas[owner] {
			p.future[bucket] = owner
			p.counts[owner]++
			continue
		}
		for at < len(p.taking) && p.counts[p.taking[at]] >= p.quotas[p.taking[at]] {
			at++
		}
		if at == len(p.taking) {
			return // no replica takes it
		}
		p.future[bucket] = p.taking[at]
		p.counts[p.taking[at]]++
	}
}
