package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// WindowFile says when upgrades with downtime may start, by a file that may change at any time.
type WindowFile struct {
	watched[*module.WindowPolicy]

	waiting sync.Mutex
	told    []func()
}

// Windows reads the file at path. Without a file, or with one that cannot be understood, there is no policy: that refuses upgrades with
// downtime and stops nothing else, so the manager starts. Once a policy is in force it stays until another one is understood.
//
// The file is JSON or YAML and has upstream's form, see docs/spec/maintenance-windows.md. least is how much of a window must be left.
// Its folder is watched. A folder that does not exist at the start is not: no mount of a pod comes later.
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

// Policy returns what is in force, nil when nothing is. It is shared and not to be changed.
func (f *WindowFile) Policy() *module.WindowPolicy { return f.current() }

// Good reports whether the file as it is now is in force.
func (f *WindowFile) Good() bool { return f.Policy() != nil && f.Err() == nil }

// OnChange has a function called after another policy came into force.
func (f *WindowFile) OnChange(do func()) {
	f.waiting.Lock()
	defer f.waiting.Unlock()
	f.told = append(f.told, do)
}

func (f *WindowFile) tell() {
	f.waiting.Lock()
	told := append([]func(){}, f.told...)
	f.waiting.Unlock()
	for _, do := range told {
		do()
	}
}

// Start follows the file until the context ends.
func (f *WindowFile) Start(ctx context.Context) error {
	if _, err := os.Stat(filepath.Dir(f.path)); f.path != "" && err != nil {
		f.log.Info("The maintenance policy is not followed: its folder cannot be read", "path", f.path, "reason", fmt.Sprint(err))
		<-ctx.Done()
		return nil
	}
	return f.watched.Start(ctx)
}
