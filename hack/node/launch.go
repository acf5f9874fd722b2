//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// startPatience bounds a start; test machines are small and shared.
	startPatience = 4 * time.Minute
	pollInterval  = 200 * time.Millisecond
	// endPatience bounds the wait for control groups to empty after everything was killed.
	endPatience = 30 * time.Second
)

// launch runs a node until the context ends. When pods can be scheduled, it prints how to use the node.
func launch(ctx context.Context, opts options) (err error) {
	start := time.Now()
	if err := opts.prepare(); err != nil {
		return err
	}
	groups, err := makeGroups(opts.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, groups.remove()) }()
	first, err := opts.start()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = first.Wait() // read from ProcessState
	}()
	defer func() { // the kernel ends all processes of the node with the first
		_ = first.Process.Kill()
		<-ended
	}()
	ready := make(chan error, 1)
	go func() { ready <- opts.awaitReady(ctx, start) }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			return fmt.Errorf("it ended by itself (%s), its folder logs says more:%s", first.ProcessState, tail(opts.log("node")))
		case err := <-ready:
			if err != nil {
				return errors.Join(err, errors.New(tail(opts.log("node"))))
			}
			fmt.Printf("ready after %.1f s\nexport KUBECONFIG=%s\n", time.Since(start).Seconds(), opts.kubeconfig())
			ready = nil
		}
	}
}

func (o *options) path(parts ...string) string {
	return filepath.Join(append([]string{o.Dir}, parts...)...)
}
func (o *options) log(program string) string { return o.path("logs", program+".log") }
func (o *options) kubeconfig() string        { return o.path("kubeconfig") }
func (o *options) apiSocket() string         { return o.path("api.sock") }

// prepare creates folders, certificates, and this machine's ends of all connections.
func (o *options) prepare() error {
	if err := os.RemoveAll(o.path("run")); err != nil { // sockets of the last run
		return err
	}
	for _, dir := range []string{"run", "logs", "config", "etcd", "containerd", "kubelet", "pods", "ipam"} {
		if err := os.MkdirAll(o.path(dir), 0o755); err != nil { //nolint:gosec // users of containers pass through
			return err
		}
	}
	if err := issue(o.path("pki"), o.Name); err != nil {
		return fmt.Errorf("cannot make certificates: %w", err)
	}
	address, err := o.publish()
	if err != nil {
		return err
	}
	for port, to := range o.Reach {
		if _, err := forward(context.Background(), o.reachSocket(port), to); err != nil {
			return err
		}
	}
	return kubeconfig(o.kubeconfig(), o.path("pki"), "admin", "https://"+address)
}

func (o *options) reachSocket(port string) string { return o.path("reach-" + port + ".sock") }

// publish gives the API server a port on loopback: the same one at every start, so that clients with that address keep working.
func (o *options) publish() (string, error) {
	file := o.path("address")
	known, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		known, err = []byte("127.0.0.1:0"), nil
	}
	if err != nil {
		return "", err
	}
	address, err := forward(context.Background(), string(known), o.apiSocket())
	if err != nil {
		return "", err
	}
	return address, os.WriteFile(file, []byte(address), 0o600)
}

// start starts the first process of the node in separate namespaces: this program again.
func (o *options) start() (*exec.Cmd, error) {
	input, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(o.log("node"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own copy
	first := exec.Command("/proc/self/exe", insideArgument)
	first.Stdin, first.Stdout, first.Stderr = bytes.NewReader(input), log, log
	first.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	if err := first.Start(); err != nil {
		return nil, fmt.Errorf("cannot make namespaces, which only root may: %w", err)
	}
	return first, nil
}

// awaitReady waits until the node accepts pods. The API server's state from an earlier start does not count.
func (o *options) awaitReady(ctx context.Context, since time.Time) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig())
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		node, err := clients.CoreV1().Nodes().Get(ctx, o.Name, metav1.GetOptions{})
		if err == nil && takesPods(node, since) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the node did not become ready within %s: %w", startPatience, errors.Join(err, ctx.Err()))
		case <-ticker.C:
		}
	}
}

func takesPods(node *corev1.Node, since time.Time) bool {
	if len(node.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			heard := condition.LastHeartbeatTime.After(since.Truncate(time.Second))
			return heard && condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// tail returns the end of a log, for an error.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	const most = 2000
	return "\n" + strings.TrimSpace(string(data[max(0, len(data)-most):]))
}
