package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// managerProcess is the manager's own program, which can be killed and started again as it was.
type managerProcess struct {
	dir  string // of its log
	env  []string
	args []string
	cmd  *exec.Cmd
	done chan struct{}

	metrics, probes string // addresses
}

// newManager prepares it; the addresses stay the same from start to start.
func newManager(dir, kubeconfig string, args ...string) *managerProcess {
	GinkgoHelper()
	m := &managerProcess{dir: dir, env: append(os.Environ(), "KUBECONFIG="+kubeconfig), metrics: freeAddress(), probes: freeAddress()}
	m.args = append([]string{
		"--metrics-bind-address=" + m.metrics, "--health-probe-bind-address=" + m.probes, "--content-bind-address=",
		"--content-dir=" + filepath.Join(dir, "content"),
	}, args...)
	return m
}

func (m *managerProcess) log() string { return filepath.Join(m.dir, "manager.log") }

// start starts it and waits until it is ready.
func (m *managerProcess) start() {
	GinkgoHelper()
	log, err := os.OpenFile(m.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	Expect(err).NotTo(HaveOccurred())
	defer log.Close()
	cmd, done := exec.Command(filepath.Join(programs, "manager"), m.args...), make(chan struct{})
	cmd.Env, cmd.Stdout, cmd.Stderr = m.env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal of the test is for the test
	Expect(cmd.Start()).To(Succeed())
	go func() {
		defer close(done)
		_ = cmd.Wait() // read from ProcessState
	}()
	m.cmd, m.done = cmd, done
	Eventually(func(g Gomega) {
		g.Expect(done).NotTo(BeClosed(), "the manager ended:\n%s", m.tail())
		_, err := get("http://" + m.probes + "/readyz")
		g.Expect(err).NotTo(HaveOccurred())
	}).WithTimeout(startTime).WithPolling(20 * time.Millisecond).Should(Succeed())
}

// kill ends it as a lost node does: at once, in the middle of whatever it does.
func (m *managerProcess) kill() {
	GinkgoHelper()
	Expect(m.cmd.Process.Kill()).To(Succeed())
	Eventually(m.done).WithTimeout(endTime).Should(BeClosed())
}

// stop ends it as a Deployment does.
func (m *managerProcess) stop() {
	GinkgoHelper()
	Expect(m.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
	Eventually(m.done).WithTimeout(30 * time.Second).Should(BeClosed())
	Expect(m.cmd.ProcessState.ExitCode()).To(Equal(0), m.tail())
}

// end is for the cleanup: it ends what may have ended already.
func (m *managerProcess) end() {
	if m.cmd != nil {
		_ = m.cmd.Process.Kill()
		<-m.done
	}
}

// tail returns the end of its log.
func (m *managerProcess) tail() string {
	data, err := os.ReadFile(m.log())
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-8000):])
}

// metric is for Eventually: the sum of a metric's series that have all these labels, each written as name="value"; -1 without any.
func (m *managerProcess) metric(name string, labels ...string) func() (float64, error) {
	return func() (float64, error) {
		page, err := get("http://" + m.metrics + "/metrics")
		if err != nil {
			return 0, err
		}
		return sumOf(page, name, labels)
	}
}

func sumOf(page []byte, name string, labels []string) (float64, error) {
	sum, found := 0.0, false
	lines := bufio.NewScanner(bytes.NewReader(page))
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if bare, number, ok := strings.Cut(lines.Text(), " "); ok && bare == name {
			series, value = bare+"{", number
		}
		text, has := strings.CutPrefix(series, name+"{")
		for _, label := range labels {
			has = has && strings.Contains(text, label)
		}
		if !has {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+number, true
	}
	if !found {
		return -1, lines.Err()
	}
	return sum, lines.Err()
}

// get reads a page.
func get(url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var page bytes.Buffer
	if _, err := page.ReadFrom(answer.Body); err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %s", url, answer.Status, &page)
	}
	return page.Bytes(), nil
}

// freeAddress returns one on loopback that no one listens on.
func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	Expect(listener.Close()).To(Succeed())
	return listener.Addr().String()
}
