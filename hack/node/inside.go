//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// overlaid are folders that programs write to at fixed paths. Inside, these writes go to the node's folder.
var overlaid = []string{"/var/lib", "/var/log"}

// settings are values that the kubelet would set for the whole machine. Inside, it finds files that already have them.
var settings = map[string]string{
	"vm/overcommit_memory":      "1",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// inside runs the first process of the node: it arranges the namespaces, starts the programs, and ends with the first one that ends.
func inside() error {
	var opts options
	if err := json.NewDecoder(os.Stdin).Decode(&opts); err != nil {
		return fmt.Errorf("%s is for the program itself: %w", insideArgument, err)
	}
	ctx := context.Background()
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"arrange mounts", opts.mount},
		{"arrange the network", func() error { return connect(ctx) }},
		{"write configuration", opts.configure},
		{"open connections", func() error { return opts.open(ctx) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("cannot %s: %w", step.what, err)
		}
	}
	running, err := opts.programs(ctx)
	if err != nil {
		return err
	}
	return watch(running)
}

// mount gives the node its own view of the file system.
func (o *options) mount() error {
	const everything = "/"
	// First detach all mounts from the machine; then share those in pods and in the kubelet with each other.
	for _, how := range []uintptr{syscall.MS_PRIVATE, syscall.MS_SHARED} {
		if err := syscall.Mount("", everything, "", syscall.MS_REC|how, ""); err != nil {
			return err
		}
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := bind(o.path("run"), "/run"); err != nil {
		return err
	}
	for _, folder := range overlaid {
		upper, work := o.path("overlay", folder, "upper"), o.path("overlay", folder, "work")
		if err := errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755)); err != nil { //nolint:gosec // as it is outside
			return err
		}
		layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", folder, upper, work)
		if err := syscall.Mount("overlay", folder, "overlay", 0, layers); err != nil {
			return fmt.Errorf("overlay on %s: %w", folder, err)
		}
	}
	for name, value := range settings {
		file := o.path("config", filepath.Base(name))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return err
		}
		if err := bind(file, filepath.Join("/proc/sys", name)); err != nil {
			return err
		}
	}
	return nil
}

func bind(what, where string) error {
	if err := syscall.Mount(what, where, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", what, where, err)
	}
	return nil
}

// connect creates a network that ends at the node. A bridge without ports has the node's address: addresses of Services need a route before
// kube-proxy can redirect them.
func connect(ctx context.Context) error {
	for _, command := range []string{
		"ip link set lo up",
		"ip link add node0 type bridge",
		"ip address add " + nodeIP + "/24 dev node0",
		"ip link set node0 up",
		"ip route add default dev node0",
	} {
		words := strings.Fields(command)
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, out)
		}
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
		return err
	}
	// Responses of a pod on the same bridge pass iptables too. Without the module, the kernel does not have the setting.
	err := os.WriteFile("/proc/sys/net/bridge/bridge-nf-call-iptables", []byte("1"), 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// open creates the node's ends of all connections to the machine.
func (o *options) open(ctx context.Context) error {
	if _, err := forward(ctx, o.apiSocket(), "127.0.0.1:"+apiPort); err != nil {
		return err
	}
	for port := range o.Reach {
		if _, err := forward(ctx, nodeIP+":"+port, o.reachSocket(port)); err != nil {
			return err
		}
	}
	return nil
}

// watch reaps ended processes, including orphans of containers, and returns when a program of the node ends.
func watch(running map[int]string) error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("nothing runs any more: %w", err)
		case running[pid] != "":
			return fmt.Errorf("%s ended: exit code %d, signal %d; its log is in the folder logs", running[pid], status.ExitStatus(), status.Signal())
		}
	}
}

// await waits until ask returns no error.
func await(what string, ask func() error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for end := time.Now().Add(startPatience); ; <-ticker.C {
		err := ask()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is not there: %w", what, err)
		}
	}
}

// serving checks whether the API server is ready.
func (o *options) serving(ctx context.Context) func() error {
	return func() error {
		ca, err := os.ReadFile(o.path("pki", "ca.crt"))
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		asker := http.Client{Timeout: time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
		defer asker.CloseIdleConnections()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:"+apiPort+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := asker.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
		return errors.Join(err, response.Body.Close())
	}
}

// load imports every archive; images that exist already cost nothing.
func (o *options) load(ctx context.Context) error {
	archives, err := filepath.Glob(filepath.Join(o.Images, "*.tar"))
	if err != nil {
		return err
	}
	if !slices.Contains(archives, filepath.Join(o.Images, "pause.tar")) {
		return fmt.Errorf("%s has no pause.tar: no pod starts without it", o.Images)
	}
	for _, archive := range archives {
		importing := exec.CommandContext(ctx, "ctr", "--address", containerdSocket, "--namespace", "k8s.io", "images", "import", archive)
		out, err := importing.CombinedOutput()
		if err != nil {
			return fmt.Errorf("load image %s: %w: %s", archive, err, out)
		}
	}
	return nil
}
