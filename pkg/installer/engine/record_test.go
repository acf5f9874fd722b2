package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// errCrash ends the process: no further call is made.
var errCrash = errors.New("the process ended")

// store plays an API server that loses answers and refuses writes, and a process that may end at every call.
type store struct {
	shards  map[string]inventory.Shard
	inline  []inventory.Entry
	named   []string
	made    int
	crashed bool
	fails   func() (class apply.Class, carriedOut, crash bool)
	private bool // no other writer finds the shards
}

// call carries out a write, or fails, or both.
func (s *store) call(write func()) error {
	if s.crashed {
		return errCrash
	}
	class, carriedOut, crash := s.fails()
	if class == "" || carriedOut {
		write()
	}
	if s.crashed = crash; crash {
		return errCrash
	}
	if class != "" {
		return &apply.Error{Class: class, Message: "it did not work"}
	}
	return nil
}

func (s *store) FindShard(named []string, shard inventory.Shard) string {
	at := slices.IndexFunc(named, func(name string) bool { return s.shards[name].Name == shard.Name })
	if at < 0 {
		return ""
	}
	return named[at]
}

func (s *store) CreateShard(_ context.Context, shard inventory.Shard) (string, error) {
	s.made++
	name := fmt.Sprint(shard.Name, "-", s.made)
	return name, s.call(func() { s.shards[name] = shard })
}

func (s *store) DeleteShards(_ context.Context, names []string) error {
	for _, name := range names {
		if err := s.call(func() { delete(s.shards, name) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) Abandon(ctx context.Context, names []string) error {
	if !s.private {
		return nil
	}
	return s.DeleteShards(ctx, names)
}

func (s *store) WriteIndex(_ context.Context, inline []inventory.Entry, shards []string) error {
	return s.call(func() { s.inline, s.named = slices.Clone(inline), slices.Clone(shards) })
}

// read returns what the index and the shards that it names hold.
func (s *store) read() ([]inventory.Entry, error) {
	all := slices.Clone(s.inline)
	for _, name := range s.named {
		shard, there := s.shards[name]
		if !there {
			return nil, fmt.Errorf("shard %s is named and not there", name)
		}
		entries, err := inventory.Decode(shard.Data)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

func records(count int) []inventory.Entry {
	entries := make([]inventory.Entry, 0, count)
	for i := range count {
		id := inventory.ID{Kind: "ConfigMap", Namespace: "default", Name: fmt.Sprintf("%06d", i)}
		entries = append(entries, inventory.Entry{ID: id, Version: "v1", Hash: fmt.Sprint(count)})
	}
	return entries
}

// TestSaveRecord_Laws: whatever fails, and whenever the process ends, the record can be read, and holds what was saved last or before it.
// Without a failure it holds what was saved, and nothing superfluous.
func TestSaveRecord_Laws(t *testing.T) {
	sizes := []int{0, 10, inventory.InlineLimit + 1, inventory.InlineLimit + 2, inventory.InlineLimit + 4001}
	classes := []apply.Class{
		apply.ClassRefused, apply.ClassConflict, apply.ClassUnreachable, apply.ClassInternal, apply.ClassCanceled, apply.ClassQuotaExceeded,
	}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 2))
		s := &store{shards: map[string]inventory.Shard{}, private: random.IntN(2) == 0}
		var before []inventory.Entry
		for save := range 4 {
			faulty := save%2 == 1
			s.fails = func() (apply.Class, bool, bool) {
				if !faulty || random.IntN(3) > 0 {
					return "", false, faulty && random.IntN(12) == 0
				}
				class := classes[random.IntN(len(classes))]
				open := class == apply.ClassUnreachable || class == apply.ClassInternal || class == apply.ClassCanceled
				return class, open && random.IntN(2) == 0, false
			}
			entries := records(sizes[random.IntN(len(sizes))])
			names, err := engine.SaveRecord(t.Context(), entries, s.named, s)
			found, unreadable := s.read()
			switch {
			case unreadable != nil:
				t.Fatalf("seed %d, save %d: %v (after %v)", seed, save, unreadable, err)
			case err == nil && (!slices.Equal(found, entries) || !slices.Equal(names, s.named)):
				t.Fatalf("seed %d, save %d: %d entries in %v, want %d in %v", seed, save, len(found), s.named, len(entries), names)
			case !slices.Equal(found, entries) && !slices.Equal(found, before):
				t.Fatalf("seed %d, save %d: %d entries are neither those before nor those after", seed, save, len(found))
			case save == 0 && len(s.shards) != len(s.named):
				t.Fatalf("seed %d: %d shards, %v are named", seed, len(s.shards), s.named)
			}
			before, s.crashed = found, false
		}
	}
}

func TestSaveRecord_WhatWasCreatedInVain(t *testing.T) {
	for name, test := range map[string]struct {
		class   apply.Class // of the index
		private bool
		stays   int
	}{
		"is deleted when the index is refused":                        {apply.ClassConflict, true, 0},
		"stays when it is unknown whether the index names it":         {apply.ClassUnreachable, true, 1},
		"stays where another writer may have found it and named it":   {apply.ClassConflict, false, 1},
		"stays when the API server fails after it may have stored it": {apply.ClassInternal, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{shards: map[string]inventory.Shard{}, private: test.private}
			calls := 0
			s.fails = func() (apply.Class, bool, bool) {
				if calls++; calls == 2 {
					return test.class, false, false
				}
				return "", false, false
			}
			named := []string{"old"}
			names, err := engine.SaveRecord(t.Context(), records(inventory.InlineLimit+1), named, s)
			if err == nil || !slices.Equal(names, named) || len(s.shards) != test.stays {
				t.Errorf("%d shards stay, %v are named, error %v", len(s.shards), names, err)
			}
		})
	}
}
