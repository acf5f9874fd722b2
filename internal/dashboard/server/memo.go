package server

import (
	"context"
	"time"
)

const (
	// recallLasts is how long an answer that no watch renews is reused.
	recallLasts = 2 * time.Second
	// mostRecalled bounds how many answers are remembered for a user.
	mostRecalled = 500
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
