package content

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// clonesAtOnce limits concurrent clones of git repositories: each holds in memory what a server sends, for as long as the server takes, so
// clones have separate slots and block only each other.
const clonesAtOnce = 2

// Room limits the memory for content that several callers unpack at the same time. The need of a Fetch is known before it begins: the size
// of the stored content, times the accepted ratio if it is compressed, and at most the limits.
type Room struct {
	bytes  int64
	free   *semaphore.Weighted
	clones *semaphore.Weighted
}

// NewRoom returns a Room of that many bytes. Content that may need more gets the whole Room exclusively.
func NewRoom(bytes int64) *Room {
	return &Room{bytes: bytes, free: semaphore.NewWeighted(bytes), clones: semaphore.NewWeighted(clonesAtOnce)}
}

// Enter returns a context in which Resolve and Fetch of a Source wait for room before they unpack. leave returns that room: call it when
// neither the tree nor what is made of it is needed any more. The context is for one goroutine at a time.
func (r *Room) Enter(ctx context.Context) (entered context.Context, leave func()) {
	taken := &claim{room: r}
	return context.WithValue(ctx, claimKey{}, taken), func() { taken.become(0) }
}

// claim is the share that one caller has of a Room.
type claim struct {
	room *Room
	held int64
}

type claimKey struct{}

// become shrinks the claim.
func (c *claim) become(bytes int64) {
	c.room.free.Release(c.held - bytes)
	c.held = bytes
}

// takeRoom waits until there is room for more bytes, or returns at once if the context has no Room. A growing claim releases its room while
// it waits: otherwise two growing claims could deadlock.
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

// takeRoomFor waits until there is room for the unpacked size of stored files.
func takeRoomFor(ctx context.Context, limits Limits, paths ...string) error {
	limits = limits.OrDefault()
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

// mayUnpack returns the maximum unpacked size of a stored file, by its size and its compression.
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

// AcquireClone waits for a slot to clone a repository in the Room of the context, if it has one; done releases the slot.
func AcquireClone(ctx context.Context) (done func(), err error) {
	taken, _ := ctx.Value(claimKey{}).(*claim)
	if taken == nil {
		return func() {}, nil
	}
	if err := taken.room.clones.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait until other repositories are cloned: %w", err)
	}
	return func() { taken.room.clones.Release(1) }, nil
}
