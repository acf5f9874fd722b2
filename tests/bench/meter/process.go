package meter

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// hertz is in which parts of a second Linux tells processor time to programs, on every architecture.
const hertz = 100

// Usage is what a process has used when it was looked at.
type Usage struct {
	At time.Time
	// CPU is the processor time since the process began, that of the kernel on its behalf included.
	CPU time.Duration
	// PSS is the memory that the process has, with its part of what it shares; RSS counts shared memory in full. Peak is the largest RSS so
	// far.
	PSS, RSS, Peak int64
	Threads        int
	// Sockets and Files are open descriptors.
	Sockets, Files int
}

// Since returns what was spent between two readings: At becomes the first one's, CPU and memory the differences.
func (u Usage) Since(before Usage) Usage {
	return Usage{
		At: before.At, CPU: u.CPU - before.CPU,
		PSS: u.PSS - before.PSS, RSS: u.RSS - before.RSS, Peak: u.Peak - before.Peak,
		Threads: u.Threads - before.Threads, Sockets: u.Sockets - before.Sockets, Files: u.Files - before.Files,
	}
}

// Cores returns how many cores were busy on average between two readings.
func (u Usage) Cores(before Usage) float64 {
	if !u.At.After(before.At) {
		return 0
	}
	return (u.CPU - before.CPU).Seconds() / u.At.Sub(before.At).Seconds()
}

// Of looks at a process.
func Of(pid int) (Usage, error) {
	u := Usage{At: time.Now()}
	folder := fmt.Sprintf("/proc/%d", pid)
	err := errors.Join(processor(folder, &u), memory(folder, &u), descriptors(folder, &u))
	if err != nil {
		return Usage{}, fmt.Errorf("cannot tell what process %d uses: %w", pid, err)
	}
	return u, nil
}

// processor reads stat. The second field is the name of the program, which may hold spaces and parentheses.
func processor(folder string, u *Usage) error {
	data, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 18 {
		return fmt.Errorf("%s/stat has %d fields behind the name, want 18 or more", folder, len(fields))
	}
	user, e1 := strconv.ParseInt(fields[11], 10, 64)
	system, e2 := strconv.ParseInt(fields[12], 10, 64)
	threads, e3 := strconv.Atoi(fields[17])
	u.CPU, u.Threads = time.Duration(user+system)*(time.Second/hertz), threads
	return errors.Join(e1, e2, e3)
}

func memory(folder string, u *Usage) error {
	rollup, err := kibibytes(folder+"/smaps_rollup", "Pss", "Rss")
	if err != nil {
		return err
	}
	status, err := kibibytes(folder+"/status", "VmHWM")
	u.PSS, u.RSS, u.Peak = rollup["Pss"], rollup["Rss"], status["VmHWM"]
	return err
}

// kibibytes reads lines such as "Pss: 12 kB" and returns bytes.
func kibibytes(file string, names ...string) (map[string]int64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		fields := strings.Fields(rest)
		if len(fields) != 2 || fields[1] != "kB" {
			continue
		}
		if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			found[name] = n << 10
		}
	}
	for _, name := range names {
		if _, ok := found[name]; !ok {
			return nil, fmt.Errorf("%s does not tell %s", file, name)
		}
	}
	return found, nil
}

func descriptors(folder string, u *Usage) error {
	entries, err := os.ReadDir(folder + "/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		// One that was closed meanwhile is none.
		if target, err := os.Readlink(folder + "/fd/" + e.Name()); err == nil {
			u.Files++
			if strings.HasPrefix(target, "socket:") {
				u.Sockets++
			}
		}
	}
	return nil
}

// Track looks at a process again and again.
type Track struct {
	stop func() ([]Usage, error)
}

// Follow looks at a process every interval until Stop. It ends by itself when the process does, or the context.
func Follow(ctx context.Context, pid int, every time.Duration) *Track {
	ctx, cancel := context.WithCancel(ctx)
	var seen []Usage
	var problem error
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			u, err := Of(pid)
			if err != nil {
				problem = err
				return
			}
			seen = append(seen, u)
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return &Track{stop: func() ([]Usage, error) {
		cancel()
		<-done
		return seen, problem
	}}
}

// Stop returns all that was seen, and why it ended early when it did.
func (t *Track) Stop() ([]Usage, error) { return t.stop() }

// Peak returns the largest of each figure.
func Peak(seen []Usage) Usage {
	var top Usage
	for _, u := range seen {
		top.PSS, top.RSS, top.Peak = max(top.PSS, u.PSS), max(top.RSS, u.RSS), max(top.Peak, u.Peak)
		top.Threads, top.Sockets, top.Files = max(top.Threads, u.Threads), max(top.Sockets, u.Sockets), max(top.Files, u.Files)
		top.CPU, top.At = max(top.CPU, u.CPU), u.At
	}
	return top
}
