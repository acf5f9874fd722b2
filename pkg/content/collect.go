package content

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// recentUse is how long content is kept after its last use, however full the store is: its path may have been returned and not opened yet.
	// It is well above touchEvery.
	recentUse = 10 * time.Minute
	// abandoned is how long a temporary file may be unmodified. An active download writes, or ends after DefaultTimeout, so that no process
	// removes a file that another is writing.
	abandoned = 15 * time.Minute
)

// stored is one file of the store.
type stored struct {
	path string
	size int64
	used time.Time
}

// Collect removes left-over temporary files and, if the store holds more than MaxBytes, the least recently used content. It returns the
// freed bytes. It keeps content that was used within the last ten minutes, which a caller may be about to open.
func (s *Store) Collect(now time.Time) (freed int64, err error) {
	left, err := list(s.tempDir())
	if err != nil {
		return 0, err
	}
	for _, file := range left {
		if now.Sub(file.used) <= abandoned {
			continue
		}
		if err := remove(file.path); err != nil {
			return freed, err
		}
		freed += file.size
	}
	evicted, err := s.evict(now)
	return freed + evicted, err
}

// evict is the part of Collect that runs with every Put.
func (s *Store) evict(now time.Time) (freed int64, err error) {
	if s.MaxBytes <= 0 {
		return 0, nil
	}
	files, err := list(s.contentDir())
	if err != nil {
		return 0, err
	}
	var total int64
	for _, file := range files {
		total += file.size
	}
	slices.SortFunc(files, func(a, b stored) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path))
	})
	for _, file := range files {
		if total-freed <= s.MaxBytes || now.Sub(file.used) <= recentUse {
			break
		}
		if err := remove(file.path); err != nil {
			return freed, err
		}
		s.forget(filepath.Base(file.path))
		freed += file.size
	}
	return freed, nil
}

// list reads a folder of the store. It leaves out files that another process removes at the same time.
func list(dir string) ([]stored, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the content store: %w", err)
	}
	files := make([]stored, 0, len(entries))
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list the content store: %w", err)
		}
		if info.Mode().IsRegular() {
			files = append(files, stored{filepath.Join(dir, entry.Name()), info.Size(), info.ModTime()})
		}
	}
	return files, nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clean the content store: %w", err)
	}
	return nil
}
