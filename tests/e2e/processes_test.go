package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// processes returns all that run on this machine: the parent of each, by id. Those that ended and wait for their parent do not count.
func processes() map[int]int {
	GinkgoHelper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	Expect(err).NotTo(HaveOccurred())
	parents := map[int]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		Expect(err).NotTo(HaveOccurred())
		// The name, in brackets, may contain anything; state and parent follow it.
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if fields[0] == "Z" {
			continue
		}
		parents[pid], err = strconv.Atoi(fields[1])
		Expect(err).NotTo(HaveOccurred())
	}
	return parents
}

// descendants returns what a process started, directly and indirectly: command lines by id.
func descendants(of int) map[int]string {
	GinkgoHelper()
	parents := processes()
	found := map[int]string{}
	for pid := range parents {
		for parent := parents[pid]; parent > 1; parent = parents[parent] {
			if parent == of {
				found[pid] = commandLine(pid)
				break
			}
		}
	}
	return found
}

// alive reports whether a process still runs. The system reuses ids, so the command line counts too.
func alive(pid int, line string) bool {
	GinkgoHelper()
	_, found := processes()[pid]
	return found && commandLine(pid) == line
}

// naming returns the command lines that contain a text.
func naming(text string) []string {
	GinkgoHelper()
	var found []string
	for pid := range processes() {
		if line := commandLine(pid); strings.Contains(line, text) && pid != os.Getpid() {
			found = append(found, line)
		}
	}
	return found
}

func commandLine(pid int) string {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return "" // it ended meanwhile
	}
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}
