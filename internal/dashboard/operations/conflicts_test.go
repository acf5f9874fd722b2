package operations

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestConflicts_WhichDeedsGetInEachOthersWay(t *testing.T) {
	notes := Request{Kind: Add, Kyma: "a/demo", Modules: []Wanted{{Name: "notes"}}}
	for name, c := range map[string]struct {
		some, other Request
		here        []string
		want        bool
	}{
		"the same module of the same Kyma":    {notes, Request{Kind: Delete, Kyma: "a/demo", Module: "notes"}, nil, true},
		"another module of it":                {notes, Request{Kind: Delete, Kyma: "a/demo", Module: "beacon"}, nil, false},
		"the same module of another Kyma":     {notes, Request{Kind: Delete, Kyma: "a/other", Module: "notes"}, nil, false},
		"the channel of the whole Kyma":       {notes, Request{Kind: Channel, Kyma: "a/demo", Channel: "fast"}, nil, true},
		"the channel of another Kyma":         {notes, Request{Kind: Channel, Kyma: "a/other", Channel: "fast"}, nil, false},
		"directly, and the Kyma is elsewhere": {notes, Request{Kind: Delete, Module: "notes"}, nil, false},
		"directly, and the Kyma is here":      {notes, Request{Kind: Delete, Module: "notes"}, []string{"a/demo"}, true},
		"directly, but another module":        {notes, Request{Kind: Delete, Module: "beacon"}, []string{"a/demo"}, false},
		"directly, in the middle of an upgrade": {
			notes, Request{Kind: Upgrade, Items: []Item{{Kyma: "a/x", Module: "b"}, {Module: "notes"}}}, []string{"a/demo"}, true,
		},
		"a release is no Kyma": {notes, Request{Kind: Promote, Release: "a/notes", Channel: "fast", Version: "1.0.0"}, nil, false},
		"two channels of a release": {
			Request{Kind: Promote, Release: "a/notes", Channel: "fast"}, Request{Kind: Promote, Release: "a/notes", Channel: "slow"}, nil, false,
		},
		"the same channel of a release": {
			Request{Kind: Promote, Release: "a/notes", Channel: "fast"}, Request{Kind: Promote, Release: "a/notes", Channel: "fast"}, nil, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			some, other := c.some.about(c.here), c.other.about(nil)
			if overlap(some, other) != c.want || overlap(other, some) != c.want {
				t.Errorf("want %v of %v and %v", c.want, some, other)
			}
		})
	}
}

// TestConflicts_APlaceIsClaimedOnce: an operation that is under way, or is about to be, keeps its place, and gets it back if the next one
// does not start.
func TestConflicts_APlaceIsClaimedOnce(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	deed := Request{Kind: Manage, Kyma: "a/demo", Module: "notes"}
	next := func() *activeOperation {
		l := e.newLive(Actor{Name: "alice"}, deed, &plan{})
		l.op.ID = "one"
		return l
	}
	first, second, third := next(), next(), next()
	if before, err := e.claim(first); err != nil || before != nil {
		t.Fatalf("%v %v", before, err)
	}
	if _, err := e.claim(second); ReasonOf(err) != WhyBusy || e.mine("one") != first {
		t.Fatalf("while it runs: %v", err)
	}
	first.op.State = Failed
	if _, err := e.claim(second); ReasonOf(err) != WhyBusy || e.mine("one") != first {
		t.Fatalf("before its end is recorded: %v", err)
	}
	close(first.done)
	before, err := e.claim(second)
	if err != nil || before != first || e.mine("one") != second {
		t.Fatalf("%v %v", before, err)
	}
	e.drop(third, nil)
	if e.mine("one") != second {
		t.Error("another user's place is lost")
	}
	e.drop(second, before)
	if e.mine("one") != first {
		t.Error("what was there before is lost")
	}
}

// TestConflicts_WhatIsOnlyInMemoryIsResumed: even if the records may not be read.
func TestConflicts_WhatIsOnlyInMemoryIsResumed(t *testing.T) {
	b := newBench(t)
	kyma, admin := b.kyma("demo"), b.admin()
	engine, err := New(Options{Records: b.user("nobody-" + b.namespace).Config, Namespace: b.namespace, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = engine.Run(ctx) }()
	op, err := engine.Start(t.Context(), admin, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	if err != nil || !strings.Contains(op.Message, "not recorded") {
		t.Fatalf("%+v %v", op, err)
	}
	if _, err := engine.Cancel(t.Context(), admin, op.ID); err != nil {
		t.Fatal(err)
	}
	b.ends(engine, admin, op.ID, Cancelled)
	b.manages()
	if _, err := engine.Resume(t.Context(), admin, op.ID); err != nil {
		t.Fatal(err)
	}
	b.ends(engine, admin, op.ID, Succeeded)
	if err := engine.Forget(t.Context(), admin, op.ID); err != nil {
		t.Error(err)
	}
}

// TestConflicts_TheSameAtOnce: of several identical requests at once, one starts.
func TestConflicts_TheSameAtOnce(t *testing.T) {
	b := newBench(t)
	kyma, admin := b.kyma("demo"), b.admin()
	var all sync.WaitGroup
	var begun atomic.Int32
	start := make(chan struct{})
	for range 8 {
		all.Go(func() {
			<-start
			_, err := b.engine.Start(t.Context(), admin, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
			if err == nil {
				begun.Add(1)
			} else if ReasonOf(err) != WhyBusy {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	if n := begun.Load(); n != 1 || b.recorded() != 1 {
		t.Errorf("%d of 8 were begun, and %d are recorded", n, b.recorded())
	}
	b.refused(admin, Request{Kind: Channel, Kyma: kyma, Channel: "fast"}, WhyBusy, "is under way")
}
