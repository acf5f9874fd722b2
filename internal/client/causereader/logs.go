package causereader

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

const (
	// mostLines and mostBytes bound what is read of a log.
	mostLines, mostBytes = 10, 32 << 10
)

// Logs reads the end of a log; previous means that of the container before the last restart.
type Logs func(ctx context.Context, namespace, pod, container string, previous bool) (io.ReadCloser, error)

// LogsOf returns the logs of the cluster of a connection.
func LogsOf(config *rest.Config) (Logs, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, namespace, pod, container string, previous bool) (io.ReadCloser, error) {
		lines, bytes := int64(mostLines), int64(mostBytes)
		options := &corev1.PodLogOptions{Container: container, Previous: previous, TailLines: &lines, LimitBytes: &bytes}
		return core.Pods(namespace).GetLogs(pod, options).Stream(ctx)
	}, nil
}

// ended is a container that has ended, and maybe runs again.
type ended struct {
	namespace, pod, container string
	// previous reports whether its log is that of an earlier run.
	previous bool
}

// logs adds the last lines of containers that have ended with an error.
func (r *reading) logs(ctx context.Context) {
	var wanted []ended
	for _, pod := range r.pods() {
		for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
			statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", list)
			for _, s := range statuses {
				status, _ := s.(map[string]any)
				if one, has := endedOf(pod, status); has {
					wanted = append(wanted, one)
				}
			}
		}
	}
	wanted = wanted[:min(len(wanted), mostLogs)]
	if r.access.Logs != nil {
		r.each(len(wanted), func(i int) { r.logOf(ctx, wanted[i]) })
	}
}

// endedOf returns the run of a container that has ended with an error, if its log may tell why it is not ready.
func endedOf(pod *unstructured.Unstructured, status map[string]any) (ended, bool) {
	name, _, _ := unstructured.NestedString(status, "name")
	ready, _, _ := unstructured.NestedBool(status, "ready")
	one := ended{namespace: pod.GetNamespace(), pod: pod.GetName(), container: name}
	if code, found, _ := unstructured.NestedInt64(status, "state", "terminated", "exitCode"); found && code != 0 {
		return one, name != ""
	}
	_, found, _ := unstructured.NestedMap(status, "lastState", "terminated")
	one.previous = true
	return one, found && !ready && name != ""
}

// logOf reads the end of one log.
func (r *reading) logOf(ctx context.Context, of ended) {
	lines, err := r.linesOf(ctx, of)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	pod := "Pod " + of.namespace + "/" + of.pod
	switch {
	case err == nil:
		r.Logs = append(r.Logs, rootcause.Log{Namespace: of.namespace, Pod: of.pod, Container: of.container, Lines: lines})
	case apierrors.IsForbidden(err):
		r.unseen("", of.namespace, fmt.Sprintf("you may not read the log of %s", pod))
	case apierrors.IsNotFound(err): // the pod is gone by now
	default:
		r.unseen("", of.namespace, fmt.Sprintf("the log of %s cannot be read: %v", pod, err))
	}
}

func (r *reading) linesOf(ctx context.Context, of ended) ([]string, error) {
	stream, err := r.access.Logs(ctx, of.namespace, of.pod, of.container, of.previous)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(io.LimitReader(stream, mostBytes))
	if err != nil && len(data) == 0 {
		return nil, err
	}
	lines := strings.FieldsFunc(string(data), func(c rune) bool { return c == '\n' || c == '\r' })
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	return lines[max(0, len(lines)-mostLines):], nil
}
