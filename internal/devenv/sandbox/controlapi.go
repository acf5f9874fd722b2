package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

const (
	// doorFile holds the address of a supervisor and the token for it: only the owner of the sandbox can read the file.
	doorFile = "door.json"
	// revivePause limits how often a manager that fails at once is restarted.
	revivePause = time.Second
	// doorTimeout bounds how long a client may take to send its headers.
	doorTimeout = 10 * time.Second
	maxOrder    = 1 << 16
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

func (d *controlAPI) close() error { return d.server.Close() }

// openControlAPI begins to accept requests.
func (h *supervisedSandbox) openControlAPI(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("the supervisor cannot listen: %w", err)
	}
	h.control = &controlAPI{Address: listener.Addr().String(), Token: rand.Text()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /manager", func(w http.ResponseWriter, request *http.Request) {
		if subtle.ConstantTimeCompare([]byte(request.Header.Get("Authorization")), []byte("Bearer "+h.control.Token)) != 1 {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.serve(w, request)
	})
	h.control.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: doorTimeout, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = h.control.server.Serve(listener) }() // always ends with an error: ErrServerClosed after close
	data, err := json.Marshal(h.control)
	if err != nil {
		return err
	}
	return replace(filepath.Join(h.sandbox.Dir, doorFile), data)
}

func (h *supervisedSandbox) serve(w http.ResponseWriter, request *http.Request) {
	var order StartRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, request.Body, maxOrder)).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	manager, err := h.obey(request.Context(), order)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	data, err := json.Marshal(manager)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // the client may be gone
}

// obey runs the manager of a request, unless one runs already.
func (h *supervisedSandbox) obey(ctx context.Context, order StartRequest) (*Manager, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.sandbox.Manager != nil && !order.Restart {
		return h.sandbox.Manager, nil
	}
	if err := h.crew.EndManager(); err != nil {
		h.log.Error(err, "The manager before did not end as it should")
	}
	h.sandbox.Manager = nil
	if err := h.startManager(ctx, order); err != nil {
		return nil, errors.Join(err, h.sandbox.write())
	}
	select {
	case h.ended <- struct{}{}:
	default: // a signal is pending already
	}
	return h.sandbox.Manager, h.sandbox.write()
}

// startManager starts the manager with the permissions of its ServiceAccount, and once the operators of sample modules.
func (h *supervisedSandbox) startManager(ctx context.Context, order StartRequest) error {
	access, err := playground.ManagerAccess(ctx, h.hub)
	if err != nil {
		return err
	}
	dir := filepath.Join(h.sandbox.Dir, managerPart)
	err = h.crew.StartManager(ctx, playground.ManagerOptions{
		Program: order.Program, Dir: dir, Cluster: hubName, Access: access, Registry: h.registry.Host,
		Signatures: filepath.Join(dir, signaturesFolder, signaturesFile),
	})
	if err != nil {
		return err
	}
	if order.Operators != "" && (h.order == nil || h.order.Operators == "") {
		clusters := append([]*localcluster.ControlPlane{h.hub}, h.runtimes...)
		if err := h.crew.StartOperators(ctx, order.Operators, h.sandbox.Dir, clusters...); err != nil {
			return err
		}
	}
	order.Restart = false
	h.order = &order
	duty, _ := h.crew.Manager()
	h.sandbox.Manager = &Manager{
		Process: duty.Process, Program: order.Program, Log: duty.Log, Metrics: "http://" + duty.Metrics + "/metrics",
		Signatures: filepath.Join(dir, signaturesFolder, signaturesFile),
	}
	return nil
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
