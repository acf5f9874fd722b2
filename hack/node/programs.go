//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// Addresses inside the node's network, where they cannot collide with others.
const (
	nodeIP           = "10.199.0.2"
	apiPort          = "6443"
	apiServiceIP     = "10.96.0.1"
	serviceRange     = "10.96.0.0/16"
	podRange         = "10.244.0.0/24"
	containerdSocket = "/run/containerd/containerd.sock"
	pauseImage       = "registry.k8s.io/pause:3.10"
)

// programs starts everything in order and returns the program names by process id.
func (o *options) programs(ctx context.Context) (map[int]string, error) {
	running := map[int]string{}
	start := func(path string, args ...string) error { return o.startProgram(running, path, args...) }
	pki := func(name string) string { return o.path("pki", name) }
	if err := start("containerd", "--config", o.path("config", "containerd.toml")); err != nil {
		return nil, err
	}
	if err := start(filepath.Join(o.Assets, "etcd"), "--data-dir", o.path("etcd"), "--unsafe-no-fsync", "--log-level", "warn"); err != nil {
		return nil, err
	}
	if err := start(filepath.Join(o.Assets, "kube-apiserver"), o.apiServer(pki)...); err != nil {
		return nil, err
	}
	err := await("containerd", func() error {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "unix", containerdSocket)
		if err == nil {
			closeQuietly(connection)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	if err := await("the API server", o.serving(ctx)); err != nil {
		return nil, err
	}
	for _, program := range []struct {
		path string
		args []string
	}{
		{filepath.Join(o.Assets, "kube-controller-manager"), append(o.asUser("kube-controller-manager"),
			"--service-account-private-key-file", pki("service-accounts.key"), "--root-ca-file", pki("ca.crt"),
			"--use-service-account-credentials")},
		{filepath.Join(o.Assets, "kube-scheduler"), o.asUser("kube-scheduler")},
		{filepath.Join(o.Programs, "kubelet"), []string{
			"--config", o.path("config", "kubelet.yaml"), "--kubeconfig", o.path("config", "kubelet.kubeconfig"),
			"--root-dir", o.path("kubelet"), "--hostname-override", o.Name, "--node-ip", nodeIP,
		}},
		{filepath.Join(o.Programs, "kube-proxy"), []string{"--config", o.path("config", "kube-proxy.yaml")}},
	} {
		if err := start(program.path, program.args...); err != nil {
			return nil, err
		}
	}
	return running, nil
}

func (o *options) apiServer(pki func(string) string) []string {
	return []string{
		"--etcd-servers", "http://127.0.0.1:2379", "--advertise-address", nodeIP, "--secure-port", apiPort,
		"--tls-cert-file", pki("apiserver.crt"), "--tls-private-key-file", pki("apiserver.key"), "--client-ca-file", pki("ca.crt"),
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", pki("service-accounts.crt"), "--service-account-signing-key-file", pki("service-accounts.key"),
		"--service-cluster-ip-range", serviceRange,
		"--authorization-mode", "Node,RBAC", "--enable-admission-plugins", "NodeRestriction",
		"--kubelet-client-certificate", pki("apiserver-kubelet-client.crt"), "--kubelet-client-key", pki("apiserver-kubelet-client.key"),
		"--kubelet-preferred-address-types", "InternalIP",
	}
}

// asUser returns the arguments of a program that uses the API server for everything, including the authorisation of its own callers.
func (o *options) asUser(program string) []string {
	file := o.path("config", program+".kubeconfig")
	return []string{"--kubeconfig", file, "--authentication-kubeconfig", file, "--authorization-kubeconfig", file, "--leader-elect=false"}
}

func (o *options) startProgram(running map[int]string, path string, args ...string) error {
	name := filepath.Base(path)
	log, err := os.OpenFile(o.log(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program has its own copy
	if path, err = lookUp(path); err != nil {
		return err
	}
	process, err := os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{
		Dir: o.Dir, Env: os.Environ(), Files: []*os.File{nil, log, log}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	running[process.Pid] = name
	return nil
}
