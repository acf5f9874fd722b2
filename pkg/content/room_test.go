package content

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestRoom_WhatIsUnpackedAtATimeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewRoom(100)
		var mu sync.Mutex
		var inside, most int64
		release := make(chan struct{})
		var group sync.WaitGroup
		for i := range 2000 {
			weight := int64(1 + i%60)
			group.Go(func() {
				ctx, leave := room.Enter(t.Context())
				defer leave()
				if err := takeRoom(ctx, weight); err != nil {
					t.Error(err)
				}
				mu.Lock()
				inside += weight
				most = max(most, inside)
				mu.Unlock()
				<-release
				mu.Lock()
				inside -= weight
				mu.Unlock()
			})
		}
		synctest.Wait()
		if most == 0 || most > 100 {
			t.Errorf("%d bytes are unpacked at a time, with room for 100", most)
		}
		close(release)
		group.Wait()
		if most > 100 || inside != 0 {
			t.Errorf("%d bytes were unpacked at a time, %d are left", most, inside)
		}
	})
}

func TestRoom_AClaimThatGrowsWaitsForNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewRoom(100)
		begun := make(chan struct{})
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				ctx, leave := room.Enter(t.Context())
				defer leave()
				for _, bytes := range []int64{50, 10, 1000} { // the last one is more than there is for anyone
					if err := takeRoom(ctx, bytes); err != nil {
						t.Error(err)
					}
					<-begun
				}
			})
		}
		synctest.Wait()
		close(begun)
		group.Wait() // synctest fails when both wait for each other
		if !room.free.TryAcquire(100) {
			t.Error("some of the room was not given back")
		}
	})
}

func TestRoom_WhoWaitsForRoomGivesUpWithItsContext(t *testing.T) {
	room := NewRoom(1)
	full, leave := room.Enter(t.Context())
	if err := takeRoom(full, 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late, left := room.Enter(ctx)
	if err := takeRoom(late, 1); err == nil {
		t.Error("there is room for two bytes")
	}
	left()
	leave()
	if !room.free.TryAcquire(1) || room.free.TryAcquire(1) {
		t.Error("what was given back is not what was taken")
	}
}

func TestCloneSlotsAreFew(t *testing.T) {
	ctx, leave := NewRoom(1).Enter(t.Context())
	defer leave()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for range clonesAtOnce {
		if _, err := AcquireClone(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := AcquireClone(ended); err == nil {
		t.Errorf("there are more than %d", clonesAtOnce)
	}
	done, err := AcquireClone(t.Context()) // a library without a Room
	if err != nil {
		t.Fatal(err)
	}
	done()
}

// Every source asks for room before it unpacks, by what it may need at most.
func TestFetchTakesRoomForWhatItMayUnpack(t *testing.T) {
	packed := chartArchive(t, "1.0.0")
	for name, test := range map[string]struct {
		data string
		want int64
	}{
		"a plain file needs its size":                      {strings.Repeat("a", 5000), 5000},
		"a compressed one the floor of the ratio at least": {packed, ratioFloor},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stored")
			if err := os.WriteFile(path, []byte(test.data), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := mayUnpack(path, DefaultLimits)
			if err != nil || got != test.want {
				t.Errorf("%d bytes, %v, want %d", got, err, test.want)
			}
		})
	}
	source, _ := chartRepository(t, versions("1.0.0"), true)
	resolved, err := source.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	room := NewRoom(4 * ratioFloor)
	ctx, leave := room.Enter(t.Context())
	if _, err := source.Fetch(ctx, resolved); err != nil {
		t.Fatal(err)
	}
	if room.free.TryAcquire(3*ratioFloor + 1) {
		t.Error("a chart was unpacked without room being taken")
	}
	leave()
	if !room.free.TryAcquire(4 * ratioFloor) {
		t.Error("the room was not given back")
	}
}
