package integration

import (
	"io"
	"net"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// door is the manager's only way to a runtime: a relay that can be shut, which looks as if the API server was stopped. Tests go past it.
type door struct {
	runtime          *testkit.Cluster
	address, against string

	mu       sync.Mutex
	listener net.Listener // nil while it is shut
	open     map[net.Conn]struct{}
}

// doorOf opens a door in front of a runtime.
func doorOf(runtime *testkit.Cluster) *door {
	GinkgoHelper()
	d := &door{runtime: runtime, address: "127.0.0.1:0", open: map[net.Conn]struct{}{}}
	d.against = strings.Trim(strings.TrimPrefix(runtime.Config.Host, "https:"), "/")
	d.reopen()
	DeferCleanup(d.shut)
	return d
}

// kubeconfig leads through the door.
func (d *door) kubeconfig() []byte {
	GinkgoHelper()
	return kubeconfigOf(d.runtime, func(cluster *clientcmdapi.Cluster) { cluster.Server = "https://" + d.address })
}

// shut cuts every connection and refuses new ones.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != nil {
		_ = d.listener.Close()
	}
	d.listener = nil
	for conn := range d.open {
		_ = conn.Close()
	}
	clear(d.open)
}

// reopen listens where it listened before.
func (d *door) reopen() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", d.address)
	Expect(err).NotTo(HaveOccurred())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listener, d.address = listener, listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // it is shut
			}
			go d.relay(listener, conn)
		}
	}()
}

func (d *door) relay(through net.Listener, conn net.Conn) {
	inside, err := net.Dial("tcp", d.against)
	if err != nil {
		_ = conn.Close()
		return
	}
	d.mu.Lock()
	if d.listener != through { // it was shut meanwhile
		_, _ = conn.Close(), inside.Close()
	}
	d.open[conn], d.open[inside] = struct{}{}, struct{}{}
	d.mu.Unlock()
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // whichever side ends, both do
		_ = to.Close()
		_ = from.Close()
	}
	go pass(inside, conn)
	pass(conn, inside)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, conn)
	delete(d.open, inside)
}

// kubeconfigOf returns unrestricted access to a cluster, with changes.
func kubeconfigOf(cluster *testkit.Cluster, changes ...func(*clientcmdapi.Cluster)) []byte {
	GinkgoHelper()
	kubeconfig, err := cluster.UserKubeconfig("lifecycle-manager", "system:masters")
	Expect(err).NotTo(HaveOccurred())
	config, err := clientcmd.Load(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	for _, change := range changes {
		for _, each := range config.Clusters {
			change(each)
		}
	}
	data, err := clientcmd.Write(*config)
	Expect(err).NotTo(HaveOccurred())
	return data
}
