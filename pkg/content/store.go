package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	dirMode  = 0o700
	fileMode = 0o400
	// touchEvery limits how often a use is recorded, because recording it is a write.
	touchEvery = time.Minute
)

// Store keeps verified content in files named by digest: <Dir>/sha256/<hex>. Use it by pointer; set the fields once, before the first call.
type Store struct {
	// Dir is created if it is missing.
	Dir string
	// Limits are the limits of one piece of content.
	Limits Limits
	// MaxBytes is the total size, in bytes, above which the least recently used content is removed; 0 means no limit.
	MaxBytes int64

	mu sync.Mutex
	// verified holds the files that this process has hashed, by hex digest. A file that was replaced or changed its size since is hashed
	// again: files of an earlier process, or on a failing disk, are never trusted.
	verified map[string]os.FileInfo
}

// Path returns the path of the content with that digest. The error is fs.ErrNotExist if it is not stored.
func (s *Store) Path(digest string) (string, error) {
	file, err := s.Open(digest)
	if err != nil {
		return "", err
	}
	defer file.Close() // read only: nothing can be lost
	return file.Name(), nil
}

// Open opens the content with that digest. The error is fs.ErrNotExist if it is not stored.
func (s *Store) Open(digest string) (*os.File, error) {
	name, err := digestHex(digest)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(s.path(name))
	if err != nil {
		s.forget(name)
		return nil, fmt.Errorf("content %s is not in the store: %w", digest, err)
	}
	if err := s.check(file, name); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s.touch(file)
	return file, nil
}

// check compares the open file with the one that was verified under its name, and verifies it if there is none. It removes a file that
// fails, so that it is fetched again.
func (s *Store) check(file *os.File, name string) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("look at stored content: %w", err)
	}
	s.mu.Lock()
	known, ok := s.verified[name]
	s.mu.Unlock()
	if ok && os.SameFile(known, info) && known.Size() == info.Size() {
		return nil
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("stored content %s is no regular file; remove it", file.Name())
	}
	if limit := s.Limits.OrDefault().Packed; info.Size() > limit {
		return tooLarge("stored content %s%s has %d bytes and %d are accepted: make it smaller or raise the limit",
			digestPrefix, name, info.Size(), limit)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fmt.Errorf("verify stored content: %w", err)
	}
	if hexSum(sum) != name {
		if err := os.Remove(file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("stored content %s is damaged and cannot be removed: %w", file.Name(), err)
		}
		return fmt.Errorf("stored content %s was damaged and is removed: %w", file.Name(), fs.ErrNotExist)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind stored content: %w", err)
	}
	s.remember(name, info)
	return nil
}

// Put stores the bytes of r under digest, if they match it, and returns their path. declared is the size that the source announced, or -1.
// It leaves nothing behind if it fails.
func (s *Store) Put(digest string, declared int64, r io.Reader) (string, error) {
	name, err := digestHex(digest)
	if err != nil {
		return "", err
	}
	temp, err := s.Temp(name)
	if err != nil {
		return "", err
	}
	if err := s.receive(temp, digest, declared, r); err != nil {
		return "", discard(temp, err)
	}
	if err := s.publish(temp, name); err != nil {
		return "", discard(temp, err)
	}
	// A failed eviction does not make this content unusable; Collect reports it.
	_, _ = s.evict(time.Now())
	return s.path(name), nil
}

// receive streams r into temp and fails unless size and digest are right. It stops at the first excess byte.
func (s *Store) receive(temp *os.File, digest string, declared int64, r io.Reader) error {
	limit := s.Limits.OrDefault().Packed
	if declared > limit {
		return tooLarge("content %s has %d bytes and %d are accepted: make it smaller or raise the limit", digest, declared, limit)
	}
	most := limit
	if declared >= 0 {
		most = declared
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(temp, sum), io.LimitReader(r, most+1))
	got := digestPrefix + hexSum(sum)
	switch {
	case err != nil:
		return fmt.Errorf("receive content %s: %w", digest, err)
	case size > limit:
		return tooLarge("content %s has more than the accepted %d bytes: make it smaller or raise the limit", digest, limit)
	case declared >= 0 && size != declared:
		return mismatch("content %s: %d bytes were announced and not exactly that many served", digest, declared)
	case got != digest:
		return mismatch("content %s: %d bytes with digest %s were served instead; publish it again or check what stands "+
			"between here and the registry", digest, size, got)
	}
	return nil
}

// publish makes the complete file durable before it gets its name: after a crash the name denotes the whole content or is missing.
func (s *Store) publish(temp *os.File, name string) error {
	if err := temp.Chmod(fileMode); err != nil {
		return fmt.Errorf("protect content: %w", err)
	}
	if err := temp.Sync(); err != nil {
		return fmt.Errorf("write content to disk: %w", err)
	}
	info, err := temp.Stat()
	if err != nil {
		return fmt.Errorf("look at received content: %w", err)
	}
	if err := temp.Close(); err != nil {
		return fmt.Errorf("close content: %w", err)
	}
	if err := os.Rename(temp.Name(), s.path(name)); err != nil {
		return fmt.Errorf("name content: %w", err)
	}
	s.remember(name, info)
	return syncDir(s.contentDir())
}

// discard removes a temporary file and returns why. If that fails, Collect removes the file later.
func discard(temp *os.File, why error) error {
	_ = temp.Close()
	_ = os.Remove(temp.Name())
	return why
}

// Temp creates a file in the folder of the store for what is being received. The caller removes it; Collect removes what a crash left.
func (s *Store) Temp(name string) (*os.File, error) {
	for _, dir := range []string{s.tempDir(), s.contentDir()} {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return nil, fmt.Errorf("make the content store: %w", err)
		}
	}
	temp, err := os.CreateTemp(s.tempDir(), name+"-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return temp, nil
}

func (s *Store) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.verified, name)
}

func (s *Store) remember(name string, info os.FileInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verified == nil {
		s.verified = map[string]os.FileInfo{}
	}
	s.verified[name] = info
}

// touch records the use for Collect, in this process and in others. A failure to do so is no reason to refuse the content.
func (s *Store) touch(file *os.File) {
	now := time.Now()
	if info, err := file.Stat(); err == nil && now.Sub(info.ModTime()) > touchEvery {
		_ = os.Chtimes(file.Name(), now, now)
	}
}

func (s *Store) contentDir() string      { return filepath.Join(s.Dir, "sha256") }
func (s *Store) tempDir() string         { return filepath.Join(s.Dir, "tmp") }
func (s *Store) path(name string) string { return filepath.Join(s.contentDir(), name) }

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	handle, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the content store: %w", err)
	}
	if err := errors.Join(handle.Sync(), handle.Close()); err != nil {
		return fmt.Errorf("write the content store to disk: %w", err)
	}
	return nil
}

func hexSum(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

func tooLarge(format string, args ...any) error {
	return Errorf(ReasonContentTooLarge, format, args...)
}

func mismatch(format string, args ...any) error {
	return Errorf(ReasonDigestMismatch, format, args...)
}
