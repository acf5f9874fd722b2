package records

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
)

// Machine returns what this program runs on. What cannot be found out stays empty. Root is the checkout, kubernetes the version of the
// API servers.
func Machine(ctx context.Context, root, kubernetes string) report.Machine {
	m := report.Machine{Cores: runtime.NumCPU(), Go: strings.TrimPrefix(runtime.Version(), "go")}
	m.Kubernetes = strings.TrimPrefix(kubernetes, "v")
	m.CPU = field("/proc/cpuinfo", "model name")
	if kib, err := strconv.Atoi(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB")); err == nil {
		m.MemoryGiB = (kib + 1<<19) >> 20
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = runtime.GOOS + " " + strings.TrimSpace(string(release))
	}
	m.Revision = revision(ctx, root)
	return m
}

// field returns what stands behind the first "name : ..." of a file.
func field(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, text, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

func revision(ctx context.Context, root string) string {
	head, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(head))
	// What benches write themselves is no difference.
	changed, err := exec.CommandContext(ctx, "git", "-C", root, "status", "--porcelain", "--", ".", ":!docs", ":!build").Output()
	if err != nil || len(changed) > 0 {
		name += "+"
	}
	return name
}
