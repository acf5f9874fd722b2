package meter

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Memory is what the Go runtime of a program tells of itself, in bytes.
type Memory struct {
	// Live is what objects take after a garbage collection, Stacks what goroutines take, System all that came from the kernel.
	Live, Stacks, System int64
	Objects              int64
	Goroutines           int
}

// Live has a program collect its garbage, twice, since stacks and what finalizers held go with the second, and tells what is left. The
// address is that of its profiles, such as http://127.0.0.1:8084.
func Live(ctx context.Context, address string) (Memory, error) {
	var data []byte
	for range 2 {
		var err error
		if data, err = get(ctx, address+"/debug/pprof/heap?gc=1&debug=1", askTimeout); err != nil {
			return Memory{}, err
		}
	}
	told := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		name, text, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "# "), " = ")
		if !ok {
			continue
		}
		// "Stack = 1 / 2" is in use and reserved.
		text, _, _ = strings.Cut(text, " ")
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			told[name] = n
		}
	}
	if told["HeapAlloc"] == 0 {
		return Memory{}, fmt.Errorf("%s serves no heap profile with memory statistics", address)
	}
	goroutines, err := goroutines(ctx, address)
	return Memory{
		Live: told["HeapAlloc"], Stacks: told["Stack"], System: told["Sys"], Objects: told["HeapObjects"], Goroutines: goroutines,
	}, err
}

// goroutines reads the first line, "goroutine profile: total 12".
func goroutines(ctx context.Context, address string) (int, error) {
	data, err := get(ctx, address+"/debug/pprof/goroutine?debug=1", askTimeout)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	_, text, _ := strings.Cut(line, "total ")
	return strconv.Atoi(text)
}

// SaveHeap writes the heap profile after a collection to a file, for go tool pprof.
func SaveHeap(ctx context.Context, address, file string) error {
	return save(ctx, address+"/debug/pprof/heap?gc=1", file, askTimeout)
}

// SaveCPU writes a processor profile of the time to come to a file, for go tool pprof. It returns when the time has ended.
func SaveCPU(ctx context.Context, address, file string, during time.Duration) error {
	url := fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", address, max(1, int(during.Seconds())))
	return save(ctx, url, file, during+askTimeout)
}

// SaveServerCPU is SaveCPU of an API server, which serves its profiles to administrators.
func SaveServerCPU(ctx context.Context, server rest.Interface, file string, during time.Duration) error {
	request := server.Get().AbsPath("/debug/pprof/profile").Param("seconds", strconv.Itoa(max(1, int(during.Seconds()))))
	data, err := request.Timeout(during + askTimeout).DoRaw(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

func save(ctx context.Context, url, file string, timeout time.Duration) error {
	data, err := get(ctx, url, timeout)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}
