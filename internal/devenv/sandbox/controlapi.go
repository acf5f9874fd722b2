//go:build unix

package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

const (
	// revivePause limits how often a manager that fails at once is restarted.
	revivePause = time.Second
	// doorTimeout bounds how long a client may take to send its headers.
	doorTimeout = 10 * time.Second
)

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
