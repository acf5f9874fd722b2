//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func TestOptionsAreCheckedBeforeAnythingStarts(t *testing.T) {
	for name, test := range map[string]struct {
		opts    options
		problem string
	}{
		"all folders are needed":                                      {options{Dir: "/tmp/n", Assets: "/a", Programs: "/p"}, "all needed"},
		"a folder that the node sees differently cannot hold it":      {options{Dir: "/var/lib/n", Assets: "/a", Programs: "/p", Images: "/i"}, "/var/lib"},
		"a folder whose sockets would have overlong names is refused": {options{Dir: "/tmp/" + strings.Repeat("n", 70), Assets: "/a", Programs: "/p", Images: "/i"}, "longer"},
		"a folder beside one that the node sees differently is fine":  {options{Dir: "/var/library", Assets: "/a", Programs: "/p", Images: "/i"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.opts.complete()
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("complete() = %v, want %q", err, test.problem)
			}
		})
	}
}

func TestNode_AWayOutNeedsAPortAndAnAddress(t *testing.T) {
	reach := reaches{}
	if err := reach.Set("8443=127.0.0.1:5000"); err != nil || reach["8443"] != "127.0.0.1:5000" {
		t.Errorf("Set gives %v, %v", reach, err)
	}
	if err := reach.Set("8443"); err == nil {
		t.Error("a port that leads nowhere is accepted")
	}
}

func TestNode_TheAuthorityStandsBehindEveryCertificateAndIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	if err := issue(dir, "one"); err != nil {
		t.Fatal(err)
	}
	ca, pool := parse(t, filepath.Join(dir, "ca.crt")), x509.NewCertPool()
	pool.AddCert(ca)
	for file, wanted := range map[string]struct {
		subject string
		usage   x509.ExtKeyUsage
	}{
		"kubelet.crt":   {"CN=system:node:one,O=system:nodes", x509.ExtKeyUsageClientAuth},
		"admin.crt":     {"CN=admin,O=system:masters", x509.ExtKeyUsageClientAuth},
		"apiserver.crt": {"CN=kube-apiserver", x509.ExtKeyUsageServerAuth},
	} {
		cert := parse(t, filepath.Join(dir, file))
		if cert.Subject.String() != wanted.subject {
			t.Errorf("%s is for %s, want %s", file, cert.Subject, wanted.subject)
		}
		if _, err := cert.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{wanted.usage}}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := issue(dir, "one"); err != nil || !parse(t, filepath.Join(dir, "ca.crt")).Equal(ca) {
		t.Errorf("a second start makes another authority: %v", err)
	}
	file := filepath.Join(dir, "kubeconfig")
	if err := kubeconfig(file, dir, "admin", "https://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	if config, err := clientcmd.BuildConfigFromFlags("", file); err != nil || len(config.KeyData) == 0 {
		t.Errorf("the kubeconfig gives %v, %v", config, err)
	}
}

func parse(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(data)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestConnectionsPassThroughASocketInTheFileSystem(t *testing.T) {
	var config net.ListenConfig
	server, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			connection, err := server.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(connection).ReadString('\n')
			_, _ = fmt.Fprint(connection, "heard "+line)
			_ = connection.Close()
		}
	}()
	socket := filepath.Join(t.TempDir(), "s.sock")
	for range 2 { // a socket that an earlier process left does not matter
		if _, err := forward(t.Context(), socket, server.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	address, err := forward(context.Background(), "127.0.0.1:0", socket)
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	connection, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintln(connection, "you")
	if answer, err := bufio.NewReader(connection).ReadString('\n'); err != nil || answer != "heard you\n" {
		t.Errorf("the answer is %q, %v", answer, err)
	}
}

func TestConfigurationIsWritten(t *testing.T) {
	opts := &options{Name: "one", Dir: t.TempDir(), Programs: "/programs"}
	if err := os.Mkdir(opts.path("config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := issue(opts.path("pki"), opts.Name); err != nil {
		t.Fatal(err)
	}
	if err := opts.configure(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"kubelet.yaml", "kube-proxy.yaml", "net.d/bridge.conflist"} {
		data, err := os.ReadFile(opts.path("config", file))
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := yaml.Unmarshal(data, &object); err != nil || len(object) < 3 {
			t.Errorf("%s: %v, %v", file, object, err)
		}
	}
}

func TestNode_ANodeTakesPodsWhenItSaysSoAgain(t *testing.T) {
	start := time.Now()
	node := func(status corev1.ConditionStatus, heard time.Time, taints ...corev1.Taint) *corev1.Node {
		ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.NewTime(heard)}
		return &corev1.Node{Spec: corev1.NodeSpec{Taints: taints}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{ready}}}
	}
	for name, test := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"a node with a new heartbeat takes pods":      {node(corev1.ConditionTrue, start.Add(2*time.Second)), true},
		"a heartbeat before the start does not count": {node(corev1.ConditionTrue, start.Add(-time.Minute)), false},
		"a node that is not ready takes none":         {node(corev1.ConditionFalse, start.Add(2*time.Second)), false},
		"a ready node with a taint takes none":        {node(corev1.ConditionTrue, start.Add(2*time.Second), corev1.Taint{Key: "not-ready"}), false},
		"a node without a status takes no pods":       {&corev1.Node{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := takesPods(test.node, start); got != test.want {
				t.Errorf("takesPods() = %t, want %t", got, test.want)
			}
		})
	}
}
