package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// WindowFile defines when upgrades with downtime may start, with a file that may change at any time.
type WindowFile struct {
	watched[*module.WindowPolicy]
	listeners
}

// Windows reads the file at path. Without a file, or with an invalid one, there is no policy: upgrades with downtime are refused and
// nothing else is affected, so the manager starts. Once a policy is in force, it stays until another valid one replaces it.
//
// The file is JSON or YAML and has upstream's form, see docs/spec/maintenance-windows.md. least is the part of a window that must be left.
// The folder of the file is watched, unless it does not exist at the start: a pod gets no mounts later.
func Windows(path string, least time.Duration, log logr.Logger) *WindowFile {
	f := &WindowFile{watched: watched[*module.WindowPolicy]{what: "maintenance policy", path: path, log: log}}
	f.parse = func(data []byte, _ func(string) ([]byte, error)) (*module.WindowPolicy, error) {
		return parseWindows(data, least)
	}
	f.changed = f.tell
	switch err := f.begin(); {
	case errors.Is(err, fs.ErrNotExist):
		f.err = err
		log.Info("There is no maintenance policy: upgrades that need downtime are refused", "path", path)
	case err != nil:
		f.err = err
		log.Error(err, "The maintenance policy is not understood: upgrades that need downtime are refused")
	}
	return f
}

// Policy returns the policy in force, nil when there is none. It is shared and must not be modified.
func (f *WindowFile) Policy() *module.WindowPolicy { return f.current() }

// Good reports whether the current content of the file is in force.
func (f *WindowFile) Good() bool { return f.Policy() != nil && f.Err() == nil }

// Start follows the file until the context ends.
func (f *WindowFile) Start(ctx context.Context) error {
	if _, err := os.Stat(filepath.Dir(f.path)); f.path != "" && err != nil {
		f.log.Info("The maintenance policy is not followed: its folder cannot be read", "path", f.path, "reason", fmt.Sprint(err))
		<-ctx.Done()
		return nil
	}
	return f.watched.Start(ctx)
}
