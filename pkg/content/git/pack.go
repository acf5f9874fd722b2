package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// objectsPerEntry limits the objects of a repository by the accepted number of entries: without history, a repository has one object per
// file and one per folder.
const objectsPerEntry = 20

// unpacking limits the repositories in memory to two at a time.
var unpacking = make(chan struct{}, 2)

// receivePack writes what a server sends into an unlinked file, up to the limit.
func receivePack(store *content.Store, from io.Reader) (file *os.File, err error) {
	file, err = store.Temp("git")
	if err != nil {
		return nil, err
	}
	// An unlinked file is gone however the process ends.
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("hide a temporary file: %w", err), file.Close())
	}
	limit := store.Limits.OrDefault().Packed
	size, err := io.Copy(file, io.LimitReader(from, limit+1))
	local, isLocal := errors.AsType[*fs.PathError](err) // of the file; any other error is the server's
	switch {
	case isLocal:
		err = fmt.Errorf("receive a git repository: %w", local)
	case err != nil:
	case size > limit:
		err = tooLarge("the repository has more than %d bytes as it is sent: raise the limit, or move the content to a smaller repository", limit)
	default:
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// loadPack reads all objects of a pack into memory. done releases the memory; call it once.
func loadPack(ctx context.Context, pack *os.File, limits content.Limits) (objects storer.EncodedObjectStorer, done func(), err error) {
	select {
	case unpacking <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("wait for memory for a git repository: %w", ctx.Err())
	}
	done = func() { <-unpacking }
	loaded, err := parsePack(ctx, pack, limits)
	if err != nil {
		done()
		return nil, nil, err
	}
	return loaded, done, nil
}

func parsePack(ctx context.Context, pack io.ReadSeeker, limits content.Limits) (storer.EncodedObjectStorer, error) {
	if err := weighPack(ctx, pack, limits); err != nil {
		return nil, err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("rewind a git repository: %w", err)
	}
	objects := &boundedObjects{ObjectStorage: &memory.NewStorage().ObjectStorage, ctx: ctx}
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(pack), objects)
	if err == nil {
		_, err = parser.Parse()
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read a git repository: %w", ctx.Err())
		}
		return nil, invalid("the server sent a pack that cannot be read: %w", err)
	}
	return objects, nil
}

// weighPack adds up the unpacked sizes that the objects of a pack declare, before the parser, which holds every object in memory, trusts
// them. Objects cannot exceed their declared size; the scanner and the parser refuse those that do.
func weighPack(ctx context.Context, pack io.Reader, limits content.Limits) error {
	scanner := packfile.NewScanner(pack)
	_, count, err := scanner.Header()
	if err != nil {
		return invalid("the server sent no git pack: %w", err)
	}
	if most := objectsPerEntry * limits.Entries; uint64(count) > uint64(most) {
		return refuse("the repository has %d git objects and %d are accepted: move the content to a smaller one", count, most)
	}
	total := int64(0)
	for range count {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read a git repository: %w", err)
		}
		size, err := nextSize(scanner, limits.Unpacked)
		if err != nil {
			return err
		}
		if total += size; total > limits.Unpacked {
			return tooLarge("the repository has more than %d bytes unpacked: raise the limit, or move the content to a smaller one", limits.Unpacked)
		}
	}
	return nil
}

// nextSize returns the memory that the next object needs, or most+1 if that is more than most.
func nextSize(scanner *packfile.Scanner, most int64) (int64, error) {
	header, err := scanner.NextObjectHeader()
	if err != nil {
		return 0, invalid("the server sent a pack that cannot be read: %w", err)
	}
	if header.Length > most || header.Length < 0 {
		return most + 1, nil
	}
	begin := &beginning{}
	if _, _, err := scanner.NextObject(begin); err != nil {
		return 0, invalid("the server sent a pack that cannot be read: %w", err)
	}
	if header.Type != plumbing.OFSDeltaObject && header.Type != plumbing.REFDeltaObject {
		return header.Length, nil
	}
	// A delta begins with the sizes of its base and of its result.
	sizes := bytes.NewReader(begin.data)
	if _, err := binary.ReadUvarint(sizes); err != nil {
		return 0, invalid("the server sent a pack with a delta that cannot be read: %w", err)
	}
	makes, err := binary.ReadUvarint(sizes)
	if err != nil {
		return 0, invalid("the server sent a pack with a delta that cannot be read: %w", err)
	}
	if makes > uint64(most) {
		return most + 1, nil
	}
	return header.Length + int64(makes), nil
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ data []byte }

func (b *beginning) Write(p []byte) (int, error) {
	if room := 2*binary.MaxVarintLen64 - len(b.data); room > 0 {
		b.data = append(b.data, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// boundedObjects stops the parser when its context ends.
type boundedObjects struct {
	*memory.ObjectStorage

	ctx context.Context //nolint:containedctx // lives as long as one call of parsePack
}

// SetEncodedObject implements storer.EncodedObjectStorer; the parser calls it for every object.
func (b *boundedObjects) SetEncodedObject(made plumbing.EncodedObject) (plumbing.Hash, error) {
	if err := b.ctx.Err(); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read a git repository: %w", err)
	}
	return b.ObjectStorage.SetEncodedObject(made)
}
