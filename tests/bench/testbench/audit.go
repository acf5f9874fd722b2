package testbench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// policy asks for one line for each call of one user, and for two of a watch, whose beginning counts.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [%q]
- level: None
`

// audit counts the calls of one user by the audit log of a real API server: that costs the server little and, unlike a proxy, the user
// nothing.
type audit struct {
	path string

	mutex  sync.Mutex
	offset int64
	counts calls.Counts
}

// newAudit writes the policy, and returns the flags by which an API server follows it.
func newAudit(dir, user string) (*audit, map[string]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	a := &audit{path: filepath.Join(dir, "audit.log"), counts: calls.Counts{}}
	file := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, policy, user), 0o600); err != nil {
		return nil, nil, err
	}
	return a, map[string]string{
		"audit-policy-file": file, "audit-log-path": a.path, "audit-log-format": "json",
		// A blocking log has a call before its answer is sent, so that who waits for an answer can count.
		"audit-log-mode": "blocking", "audit-log-maxsize": "100000",
	}, nil
}

// entry is what matters of a line.
type entry struct {
	Stage      string `json:"stage"`
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	UserAgent  string `json:"userAgent"`
	Object     *struct {
		Resource    string `json:"resource"`
		Group       string `json:"apiGroup"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

// Snapshot reads on and returns all calls until now.
func (a *audit) snapshot() (calls.Counts, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err := a.read(); err != nil {
		return nil, fmt.Errorf("cannot count calls by the audit log: %w", err)
	}
	return a.counts.Diff(nil), nil
}

// read reads whole lines only: the last one may still be written.
func (a *audit) read() error {
	file, err := os.Open(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no one called yet
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return err
	}
	for reader := bufio.NewReaderSize(file, 1<<16); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a.offset += int64(len(line))
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if (e.Verb == calls.Watch) == (e.Stage == "ResponseStarted") {
			a.counts[e.call()]++
		}
	}
}

func (e *entry) call() calls.Call {
	call := calls.Call{Verb: e.Verb, Resource: e.RequestURI, Agent: e.UserAgent}
	if e.Object != nil && e.Object.Resource != "" {
		call.Resource = e.Object.Resource
		if e.Object.Group != "" {
			call.Resource += "." + e.Object.Group
		}
		if e.Object.Subresource != "" {
			call.Resource += "/" + e.Object.Subresource
		}
	}
	return call
}
