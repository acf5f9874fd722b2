package server

import (
	"cmp"
	"context"
	"hash/fnv"
	"strconv"
	"time"
)

const (
	// recallLasts is how long an answer that no watch renews is reused.
	recallLasts = 2 * time.Second
	// mostRecalled bounds how many answers are remembered for a user.
	mostRecalled = 500
	// largeSlots is how many large answers of a kind are remembered for a user.
	largeSlots = 16
)

// memory is one answer. Only the holder of turn may read it again.
type memory struct {
	turn  chan struct{}
	value any
	err   error
	at    time.Time
}

// recalled returns an answer that was read for a user a moment ago, or reads it now: many live queries need the same answer, and often.
func recalled[T any](ctx context.Context, u *User, key string, read func(context.Context) (T, error)) (T, error) {
	return recalledFor(ctx, u, key, recallLasts, read)
}

// recalledFor is like recalled, for answers that can be reused for longer.
func recalledFor[T any](
	ctx context.Context, u *User, key string, lasts time.Duration, read func(context.Context) (T, error),
) (T, error) {
	var none T
	one := u.memory(key)
	select {
	case one.turn <- struct{}{}:
		defer func() { <-one.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if time.Since(one.at) < lasts {
		value, is := one.value.(T)
		if is || one.err != nil {
			return value, one.err
		}
	}
	value, err := read(ctx)
	if ctx.Err() == nil {
		one.value, one.err, one.at = value, err, time.Now()
	}
	return value, err
}

func (u *User) memory(key string) *memory {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.memories == nil || len(u.memories) >= mostRecalled {
		u.memories = map[string]*memory{}
	}
	one := u.memories[key]
	if one == nil {
		one = &memory{turn: make(chan struct{}, 1)}
		u.memories[key] = one
	}
	return one
}

// large is an answer that is remembered in one of a few slots, since it may be large. id is what it is about.
type large[T any] struct {
	id    string
	value T
	err   error
}

// recalledLarge is recalledFor for answers that may be large: of all that have one prefix, few are remembered for a user.
func recalledLarge[T any](
	ctx context.Context, u *User, prefix, id string, lasts time.Duration, read func(context.Context) (T, error),
) (T, error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(id)) // it never fails
	own := func(ctx context.Context) (large[T], error) {
		value, err := read(ctx)
		return large[T]{id, value, err}, nil // an error is about this answer, too
	}
	found, err := recalledFor(ctx, u, prefix+" "+strconv.Itoa(int(sum.Sum32()%largeSlots)), lasts, own)
	if err == nil && found.id != id {
		found, err = own(ctx) // another one of the same slot was read a moment ago
	}
	return found.value, cmp.Or(err, found.err)
}
