//go:build linux

// Command node runs real pods on a machine that has neither a container engine nor a cluster.
//
// It runs one Kubernetes node in separate namespaces (processes, mounts, network): etcd, API server, controller manager, scheduler, kubelet
// and kube-proxy from this repository's builds, containerd and runc from the system. It stays in the foreground. When it ends, in whatever
// way, the kernel ends everything that it started, and only its folder remains. Started again on that folder, it is the same cluster as
// after a power cut. The network namespace has no route to the outside: the API server is reached through a port on loopback, and pods
// reach those ports of the machine that -reach names.
//
// It pulls no image, serves no DNS, has one node, and is for tests: etcd does not wait for the disk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// insideArgument makes this program the first process of the node.
const insideArgument = "inside"

// options describe what to run. They are passed to the first process inside.
type options struct {
	// Name of the node and of its control groups: unique on the machine.
	Name string `json:"name"`
	// Dir is the folder for all files.
	Dir string `json:"dir"`
	// Assets is the folder with etcd, kube-apiserver, kube-controller-manager and kube-scheduler.
	Assets string `json:"assets"`
	// Programs is the folder with kubelet, kube-proxy and the network plugins.
	Programs string `json:"programs"`
	// Images is the folder with archives of images, which are loaded at each start; pause.tar must be one of them.
	Images string `json:"images"`
	// Reach maps ports of the node to the address on this machine to which each leads: "8443=127.0.0.1:5000".
	Reach reaches `json:"reach"`
}

// reaches is a repeatable flag.
type reaches map[string]string

func (r reaches) String() string { return fmt.Sprint(map[string]string(r)) }

// Set parses "<port>=<address>".
func (r reaches) Set(value string) error {
	port, address, ok := strings.Cut(value, "=")
	if !ok {
		return errors.New("write it as <port of the node>=<address on this machine>")
	}
	r[port] = address
	return nil
}

func main() {
	// The kernel ends the node when the thread that started it ends. Nothing else runs on this thread, and it lives until the end.
	runtime.LockOSThread()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) == 2 && os.Args[1] == insideArgument {
		return inside()
	}
	opts := options{Reach: reaches{}}
	flag.StringVar(&opts.Name, "name", "node", "name of the node; no two on a machine may share it")
	flag.StringVar(&opts.Dir, "dir", "", "folder for everything; started again on it, the node goes on where it was")
	flag.StringVar(&opts.Assets, "assets", "", "folder with etcd and the control plane programs: hack/controlplane/build.sh prints it")
	flag.StringVar(&opts.Programs, "programs", "", "folder with kubelet, kube-proxy and network plugins: hack/node/build.sh prints it")
	flag.StringVar(&opts.Images, "images", "", "folder with archives of images to load, pause.tar among them: hack/node/images.sh fills it")
	flag.Var(opts.Reach, "reach", "port of the node that leads to an address on this machine, such as 8443=127.0.0.1:5000; may be repeated")
	flag.Parse()
	if err := opts.complete(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return launch(ctx, opts)
}

// complete checks the options before anything starts, and makes paths absolute.
func (o *options) complete() error {
	for _, path := range []*string{&o.Dir, &o.Assets, &o.Programs, &o.Images} {
		if *path == "" {
			return errors.New("-dir, -assets, -programs and -images are all needed, see -help")
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	for _, hidden := range overlaid {
		if strings.HasPrefix(o.Dir+"/", hidden+"/") {
			return fmt.Errorf("-dir must not lie below %s: the node has its own view of that folder", hidden)
		}
	}
	// The longest socket path below it is containerd's, and the kernel allows 108 bytes.
	if longest := 70; len(o.Dir) > longest {
		return fmt.Errorf("-dir is longer than the %d bytes that leave room for the names of sockets", longest)
	}
	return nil
}
