package podlogs

import (
	"context"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

const (
	// step is how much is read at once, and pace the shortest time between two steps: together they bound the rate.
	step, pace = 32 << 10, 100 * time.Millisecond
)

// Query is a log.
type Query struct {
	Namespace, Pod, Container string
	// Previous means that of the container before its last restart.
	Previous bool
	// Tail is how many lines are read at most, Since from when on; zero means no bound.
	Tail  int64
	Since time.Duration
	// Follow waits for more.
	Follow bool
	// Bytes is how much is read at most.
	Bytes int64
}

// Open begins to read a log, as the user of a connection.
func Open(ctx context.Context, config *rest.Config, q Query) (io.ReadCloser, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0 // it would end a log that is followed; the context does
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return core.Pods(q.Namespace).GetLogs(q.Pod, q.options()).Stream(ctx)
}

func (q *Query) options() *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: q.Container, Previous: q.Previous, Follow: q.Follow, Timestamps: true}
	if q.Tail > 0 {
		options.TailLines = &q.Tail
	}
	if seconds := int64(q.Since / time.Second); seconds > 0 {
		options.SinceSeconds = &seconds
	}
	if q.Bytes > 0 && !q.Follow {
		options.LimitBytes = &q.Bytes
	}
	return options
}

// End says why a log is not read further.
type End string

// The ends of a log.
const (
	// EndComplete: there is no more.
	EndComplete End = "Complete"
	// EndBytes: as much was read as is allowed.
	EndBytes End = "Bytes"
	// EndTime: it was followed for as long as is allowed.
	EndTime End = "Time"
	// EndBroken: the cluster ended the connection.
	EndBroken End = "Broken"
)

// Copy gives the lines of a log to a function, until it ends or the function fails. It waits between its steps, so that a container that
// prints without end takes neither more than its share of the network nor of the page. ctx ends it.
func Copy(ctx context.Context, log io.Reader, most int64, give func(lines []string) error) (End, error) {
	var lines Lines
	buffer := make([]byte, step)
	rest := time.NewTimer(0)
	defer rest.Stop()
	for most > 0 {
		select {
		case <-ctx.Done():
			return EndTime, nil
		case <-rest.C:
		}
		n, err := log.Read(buffer[:min(most, step)])
		rest.Reset(pace)
		most -= int64(n)
		complete := lines.Add(buffer[:n])
		if err != nil {
			complete = append(complete, lines.End()...)
		}
		if len(complete) > 0 {
			if failed := give(complete); failed != nil {
				return EndBroken, failed
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return EndComplete, nil
		case ctx.Err() != nil:
			return EndTime, nil
		default:
			return EndBroken, nil
		}
	}
	if last := lines.End(); len(last) > 0 {
		return EndBytes, give(last)
	}
	return EndBytes, nil
}

// Moment splits the time that the API server writes before a line from the line.
func Moment(line string) (at, text string) {
	for i := range min(len(line), 40) {
		if line[i] == ' ' {
			if _, err := time.Parse(time.RFC3339Nano, line[:i]); err == nil {
				return line[:i], line[i+1:]
			}
			break
		}
	}
	return "", line
}
