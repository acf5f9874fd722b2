package content

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// clonesAtOnce bounds the clones of git repositories under way: each holds in memory what a server sends, for as long as that server likes
// to take, so they have slots of their own and hold up nothing but each other.
const clonesAtOnce = 2

// Room bounds the memory that content takes which several callers unpack at a time. What a Fetch may need is known before it begins: the
// size of what is stored, times the accepted ratio where that is compressed, and never more than the limits accept.
type Room struct {
	bytes  int64
	free   *semaphore.Weighted
	clones *semaphore.Weighted
}

// NewRoom returns a Room of that many bytes. Content that may take more has the whole of it for itself.
func NewRoom(bytes int64) *Room {
	return &Room{bytes: bytes, free: semaphore.NewWeighted(bytes), clones: semaphore.NewWeighted(clonesAtOnce)}
}

// Enter returns a context in which Resolve and Fetch of a Source wait for room before they unpack. leave gives that room back: it is to be
// called when neither the tree nor what is being made of it is needed any more. The context is for one goroutine at a time.
func (r *Room) Enter(ctx context.Context) (entered context.Context, leave func()) {
	taken := &claim{room: r}
	return context.WithValue(ctx, claimKey{}, taken), func() { taken.become(0) }
}

// claim is what one caller has of a Room.
type claim struct {
	room *Room
	held int64
}

type claimKey struct{}

// become gives back what is not needed for a smaller claim.
func (c *claim) become(bytes int64) {
	c.room.free.Release(c.held - bytes)
	c.held = bytes
}

// takeRoom waits until there is room for bytes more, or returns at once where the context has no Room. A claim that grows lets go of what
// it has while it waits: two that both wanted more would wait for each other.
func takeRoom(ctx context.Context, bytes int64) error {
	taken, _ := ctx.Value(claimKey{}).(*claim)
	if taken == nil {
		return nil
	}
	want := min(bytes, taken.room.bytes)
	if want <= taken.held {
		return nil
	}
	taken.become(0)
	if err := taken.room.free.Acquire(ctx, want); err != nil {
		return fmt.Errorf("wait until other content is unpacked: %w", err)
	}
	taken.held = want
	return nil
}

// takeRoomFor waits until there is room for what stored files may unpack to.
func takeRoomFor(ctx context.Context, limits Limits, paths ...string) error {
	limits = limits.orDefault()
	var bytes int64
	for _, path := range paths {
		may, err := mayUnpack(path, limits)
		if err != nil {
			return err
		}
		bytes += may
	}
	return takeRoom(ctx, min(bytes, limits.Unpacked))
}

// mayUnpack returns how many bytes a stored file gives at most, by its size and by whether it is compressed.
func mayUnpack(path string, limits Limits) (int64, error) {
	opened, err := openLayer(path, limits)
	if err != nil {
		return 0, err
	}
	defer opened.Close() // read only: nothing can be lost
	if counted, ok := opened.reader.(*capped); ok && counted.mostByRatio > 0 {
		return min(counted.mostByRatio, limits.Unpacked), nil
	}
	return opened.size, nil
}

// takeClone waits until another clone may be under way; done ends it.
func takeClone(ctx context.Context) (done func(), err error) {
	taken, _ := ctx.Value(claimKey{}).(*claim)
	if taken == nil {
		return func() {}, nil
	}
	if err := taken.room.clones.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait until other repositories are cloned: %w", err)
	}
	return func() { taken.room.clones.Release(1) }, nil
}
