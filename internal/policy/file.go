package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// settle is the time between the first sign of a change and the reading: one edit is several events.
const settle = 100 * time.Millisecond

// RegistryFile says how each registry is spoken to, by a file that may change at any time.
type RegistryFile struct {
	path string
	log  logr.Logger

	mu sync.RWMutex
	// known is replaced as a whole and never changed.
	known policies
	// err says why the file as it is now does not count.
	err error
}

// Registries reads the file at path. An error means that there is nothing to start with; a manager should not start then.
// An empty path gives a RegistryFile that has no special rules for anybody and never changes.
//
// The file is YAML: "registries: [{host, plainHTTP, ca | caFile, mirrors}]". Its folder is watched, as Kubernetes mounts a ConfigMap:
// a mount by subPath never changes, and so is not noticed.
func Registries(path string, log logr.Logger) (*RegistryFile, error) {
	f := &RegistryFile{path: path, log: log}
	if path == "" {
		return f, nil
	}
	known, err := f.read()
	if err != nil {
		return nil, fmt.Errorf("registries file %s: %w", path, err)
	}
	f.known = known
	return f, nil
}

// Host gives the policy for a host (host[:port]): 1. that of its own entry; 2. that of the entry "*"; 3. the zero policy.
// Entries are not merged. What is returned is shared and not to be changed.
func (f *RegistryFile) Host(host string) content.HostPolicy {
	f.mu.RLock()
	known := f.known
	f.mu.RUnlock()
	if policy, ok := known[strings.ToLower(host)]; ok {
		return policy
	}
	return known[everyHost]
}

// Err says what is wrong with the file as it is now, while an earlier content of it is in force; nil when all is well.
func (f *RegistryFile) Err() error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.err
}

// NeedLeaderElection says no: every replica talks to registries.
func (f *RegistryFile) NeedLeaderElection() bool { return false }

// Start follows the file until the context ends.
func (f *RegistryFile) Start(ctx context.Context) error {
	if f.path == "" {
		<-ctx.Done()
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the registries file: %w", err)
	}
	folder := filepath.Dir(f.path)
	if err := watcher.Add(folder); err != nil {
		return errors.Join(fmt.Errorf("watch folder %s of the registries file: %w", folder, err), watcher.Close())
	}
	f.follow(ctx, watcher)
	<-ctx.Done()
	return watcher.Close()
}

// follow reads the file a moment after its folder has changed. Only the first event of a burst starts that moment, so that a folder
// that is never quiet does not put the reading off for ever. What cannot be understood is read once more: it may be half of an edit.
func (f *RegistryFile) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	// What changed between the first reading and now had no watch.
	settled, doubted := time.After(settle), false
	look := func() {
		if settled == nil {
			settled = time.After(settle)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-watcher.Events:
			if !open {
				return
			}
			if event.Name == filepath.Dir(f.path) && event.Op.Has(fsnotify.Remove) {
				f.report(errors.New("its folder was deleted, and changes are not noticed any more: restart this program"))
				return
			}
			look()
		case _, open := <-watcher.Errors:
			if !open {
				return
			}
			// Events were lost (an overflow): look.
			look()
		case <-settled:
			settled = nil
			err := f.reload()
			doubted = err != nil && !doubted
			if doubted {
				look()
			} else if err != nil {
				f.report(err)
			}
		}
	}
}

// reload takes over what the file says, or keeps what is in force.
func (f *RegistryFile) reload() error {
	known, err := f.read()
	if err != nil {
		return err
	}
	f.mu.Lock()
	changed, repaired := !reflect.DeepEqual(known, f.known), f.err != nil
	f.known, f.err = known, nil
	f.mu.Unlock()
	if changed || repaired {
		f.log.Info("Registries file is in force", "path", f.path, "registries", len(known))
	}
	return nil
}

// report keeps an error and logs it once, however often it is met.
func (f *RegistryFile) report(err error) {
	err = fmt.Errorf("registries file %s: %w; what it said before stays in force", f.path, err)
	f.mu.Lock()
	again := f.err != nil && f.err.Error() == err.Error()
	f.err = err
	f.mu.Unlock()
	if !again {
		f.log.Error(err, "Registries file is not understood")
	}
}

func (f *RegistryFile) read() (policies, error) {
	data, err := readFile(f.path)
	if err != nil {
		return nil, err
	}
	known, err := parse(data, func(name string) ([]byte, error) { return readFile(filepath.Join(filepath.Dir(f.path), name)) })
	if err != nil {
		return nil, errors.New(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; "))
	}
	return known, nil
}

// readFile refuses what is no file, which could be endless, and what is larger than any policy.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, nil
}
