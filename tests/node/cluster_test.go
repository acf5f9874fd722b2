package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	// startTime is enough for a node on a machine that does much else.
	startTime = 5 * time.Minute
	// endTime is what the end may take.
	endTime = time.Minute
)

// cluster is a node, and the control plane on it.
type cluster struct {
	dir    string
	args   []string
	cmd    *exec.Cmd
	done   chan struct{}
	config *rest.Config
	client client.WithWatch
	space  string // its process namespace, once a user asked
}

// newCluster prepares a node; what it reaches is "<port>=<address>".
func newCluster(name string, reach ...string) *cluster {
	c := &cluster{dir: filepath.Join(state, name)}
	c.args = []string{
		"-name", fmt.Sprintf("klm-%s-%d", name, os.Getpid()), "-dir", c.dir,
		"-assets", assets, "-programs", programs, "-images", filepath.Join(state, "images"),
	}
	for _, way := range reach {
		c.args = append(c.args, "-reach", way)
	}
	return c
}

// starter starts programs on a thread that never ends: the kernel ends what a thread started when the thread ends.
var starter = func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range work {
			do()
		}
	}()
	return work
}()

// start starts the node and waits until it takes pods. It ends by stop, and with this process.
func (c *cluster) start() {
	GinkgoHelper()
	begin := time.Now()
	said, err := os.Create(filepath.Join(state, filepath.Base(c.dir)+".out"))
	Expect(err).NotTo(HaveOccurred())
	defer said.Close()
	c.cmd, c.done = exec.Command(filepath.Join(state, "node"), c.args...), make(chan struct{})
	c.cmd.Stdout, c.cmd.Stderr = said, said
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	starter <- func() { started <- c.cmd.Start() }
	Expect(<-started).To(Succeed())
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		_ = cmd.Wait() // read from ProcessState
	}(c.cmd, c.done)
	Eventually(func(g Gomega) {
		text, _ := os.ReadFile(said.Name())
		select {
		case <-c.done:
			StopTrying("the node ended:\n" + string(text)).Now()
		default:
		}
		g.Expect(string(text)).To(ContainSubstring("KUBECONFIG="))
	}).WithTimeout(startTime).Should(Succeed())
	c.connect()
	stepf("node %s is ready after %s", filepath.Base(c.dir), time.Since(begin).Round(100*time.Millisecond))
}

func (c *cluster) connect() {
	GinkgoHelper()
	var err error
	c.config, err = clientcmd.BuildConfigFromFlags("", filepath.Join(c.dir, "kubeconfig"))
	Expect(err).NotTo(HaveOccurred())
	c.config.QPS, c.config.WarningHandler = -1, rest.NoWarnings{}
	c.client, err = client.NewWithWatch(c.config, client.Options{Scheme: testkit.Scheme()})
	Expect(err).NotTo(HaveOccurred())
}

// stop ends the node as a power cut would, and checks that nothing of it continues.
func (c *cluster) stop() {
	GinkgoHelper()
	Expect(len(c.inside())).To(BeNumerically(">", 7), "the programs of a node are processes of its namespace")
	Expect(c.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
	Eventually(c.done).WithTimeout(endTime).Should(BeClosed())
	text, _ := os.ReadFile(filepath.Join(state, filepath.Base(c.dir)+".out"))
	Expect(c.cmd.ProcessState.ExitCode()).To(Equal(0), "%s", text)
	Expect(c.inside()).To(BeEmpty(), "processes that outlived the node")
	c.space = ""
	groups, err := filepath.Glob("/sys/fs/cgroup/*/" + c.args[1])
	Expect(err).NotTo(HaveOccurred())
	Expect(groups).To(BeEmpty(), "control groups that outlived the node")
	mounts, err := os.ReadFile("/proc/self/mounts")
	Expect(err).NotTo(HaveOccurred())
	Expect(string(mounts)).NotTo(ContainSubstring(c.dir))
}

// make runs a target of the Makefile against this cluster.
func (c *cluster) make(args ...string) {
	GinkgoHelper()
	run([]string{"KUBECONFIG=" + filepath.Join(c.dir, "kubeconfig")}, "make", args...)
}

// ctr speaks to the node's containerd.
func (c *cluster) ctr(args ...string) string {
	GinkgoHelper()
	socket := filepath.Join(c.dir, "run", "containerd", "containerd.sock")
	return run(nil, "ctr", append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...)
}

// inside returns the command lines of the processes in the same process namespace as the node's first; pods have further ones below it.
func (c *cluster) inside() (found []string) {
	GinkgoHelper()
	if c.space == "" {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", c.cmd.Process.Pid))
		Expect(err).NotTo(HaveOccurred())
		c.space, err = os.Readlink(filepath.Join("/proc", strings.Fields(string(children))[0], "ns", "pid"))
		Expect(err).NotTo(HaveOccurred())
	}
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	Expect(err).NotTo(HaveOccurred())
	for _, link := range links {
		if space, _ := os.Readlink(link); space == c.space { // empty when it ended meanwhile
			line, _ := os.ReadFile(filepath.Join(link, "..", "..", "cmdline"))
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// stepf tells what happens and when, so that a run shows where its time goes.
func stepf(format string, args ...any) {
	fmt.Fprintf(GinkgoWriter, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// background ends calls that no one answers.
func background() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	context.AfterFunc(ctx, cancel)
	return ctx
}
