package node

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// tunnel is what docs/dashboard.md tells users to open: a port of this machine that leads to the dashboard.
type tunnel struct {
	address string
	cmd     *exec.Cmd
	done    chan struct{}
}

// dig opens a tunnel, and tries again while there is no one at its end.
func dig() *tunnel {
	GinkgoHelper()
	t := &tunnel{}
	Eventually(func(g Gomega) {
		t.close()
		g.Expect(t.open()).To(Succeed())
		g.Expect(t.address).NotTo(BeEmpty(), "kubectl port-forward ended without an address")
	}).Should(Succeed())
	return t
}

func (t *tunnel) open() error {
	t.cmd = exec.Command(filepath.Join(assets, "kubectl"), "--kubeconfig", filepath.Join(hub.dir, "kubeconfig"),
		"--namespace", "kcp-system", "port-forward", "service/klm-dashboard", ":443")
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	started := make(chan error)
	starter <- func() { started <- t.cmd.Start() }
	if err := <-started; err != nil {
		return err
	}
	said := bufio.NewReader(out)
	line, _ := said.ReadString('\n') // Forwarding from 127.0.0.1:<port> -> 8443
	if words := strings.Fields(line); len(words) > 2 {
		t.address = "https://" + words[2]
	}
	t.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		_, _ = io.Copy(io.Discard, said)
		_ = cmd.Wait() // read from ProcessState
	}(t.cmd, t.done)
	return nil
}

func (t *tunnel) close() {
	if t.done == nil {
		return
	}
	_ = t.cmd.Process.Kill() // it may have ended with its pod
	<-t.done
	t.address, t.done = "", nil
}
