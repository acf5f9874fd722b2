package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

const (
	// doorFile holds the address of a supervisor and the token for it: only the owner of the sandbox can read the file.
	doorFile = "door.json"
	maxOrder = 1 << 16
)

// StartRequest describes the manager that should run in a sandbox.
type StartRequest struct {
	// Program is the manager's own program.
	Program string `json:"program"`
	// Operators is the folder with the programs of the sample modules' operators; empty to run none.
	Operators string `json:"operators,omitempty"`
	// Restart ends a manager that already runs.
	Restart bool `json:"restart,omitempty"`
}

// controlAPI is the endpoint of a supervisor: on loopback, for users who can read the folder.
type controlAPI struct {
	Address string `json:"address"`
	Token   string `json:"token"`
	server  *http.Server
}

// StartManager requests the supervisor of a sandbox to run the manager, and returns when it is ready.
func (s *Sandbox) StartManager(ctx context.Context, order StartRequest) (*Manager, error) {
	var at controlAPI
	data, err := os.ReadFile(filepath.Join(s.Dir, doorFile))
	if err == nil {
		err = json.Unmarshal(data, &at)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the supervisor of sandbox %s: %w", s.Name, err)
	}
	body, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at.Address+"/manager", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+at.Token)
	// Not the default transport: a proxy from the environment must not be used.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the supervisor of sandbox %s does not answer: %w", s.Name, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxOrder))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the manager does not run: %s", bytes.TrimSpace(text))
	}
	manager := &Manager{}
	return manager, json.Unmarshal(text, manager)
}
