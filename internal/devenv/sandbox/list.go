//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// List returns all sandboxes sorted by name, including those that have ended.
func List(root string) ([]Sandbox, error) {
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var found []Sandbox
	for _, entry := range entries {
		if !entry.IsDir() || CheckName(entry.Name()) != nil {
			continue
		}
		s, err := Find(root, entry.Name())
		if errors.Is(err, ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		found = append(found, *s)
	}
	return found, nil
}

// Find returns the sandbox of a name, with its current state.
func Find(root, name string) (*Sandbox, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, name)
	lock, held, err := tryLock(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	if err != nil {
		return nil, err
	}
	s, err := read(dir)
	if err != nil {
		return nil, err
	}
	if held { // the lock was free, so no process of the sandbox lives
		s.State, s.Process, s.Manager = Stopped, 0, nil
		return s, lock.Close()
	}
	return s, nil
}
