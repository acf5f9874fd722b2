package allot

import (
	"cmp"
	"slices"
)

// Standing is what a replica is good for, as it was observed.
type Standing int

const (
	// Gone may own nothing: what it owned is free. It is also the standing of whoever is not listed.
	Gone Standing = iota
	// Keeping was not seen to move lately: it keeps what it owns and gets nothing.
	Keeping
	// Taking is at work: it keeps what it owns and gets its share.
	Taking
	// Leaving is about to end: it owns what it owns until it has let go of it.
	Leaving
)

// Plan is the Table to come for the replicas as they stand.
//
//  1. A bucket stays with whoever owns it or is to get it, as long as that one keeps or takes.
//  2. What those keep who only keep is set aside; the rest is shared by those who take, so that no two shares differ by more than one.
//     Whoever has most already gets the larger shares.
//  3. Who has more than his share gives up what he has not begun with yet, then the buckets with the highest numbers.
//  4. Free buckets go to whoever has less than his share, in the order of their names.
//  5. A bucket whose owner is gone changes hands at once; one whose owner is there gets somebody who is next.
func Plan(table Table, replicas map[string]Standing) Table {
	p := newPlan(&table, replicas)
	p.level()
	p.spread()
	next := table
	for bucket := range next {
		next[bucket] = settle(table[bucket], p.future[bucket], replicas)
	}
	return next
}

// settle is rule 5.
func settle(share Share, future string, replicas map[string]Standing) Share {
	switch {
	case replicas[share.Owner] == Gone && future != "":
		return Share{Owner: future}
	case replicas[share.Owner] == Gone:
		return Share{Owner: share.Owner} // nobody is there to take it; it stays told whose it was
	case future == share.Owner:
		return Share{Owner: share.Owner}
	default:
		return Share{Owner: share.Owner, Next: future}
	}
}

// plan is a Plan in the making.
type plan struct {
	table  *Table
	future [Buckets]string // who is to have each bucket; empty: it is free
	counts map[string]int
	quotas map[string]int
	taking []string // sorted
}

// newPlan is rules 1 and 2.
func newPlan(table *Table, replicas map[string]Standing) *plan {
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

// level is rule 3.
func (p *plan) level() {
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

// spread is rule 4. A free bucket goes back to its owner rather than to somebody else, where that one is below his share.
func (p *plan) spread() {
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
			return // nobody takes
		}
		p.future[bucket] = p.taking[at]
		p.counts[p.taking[at]]++
	}
}
