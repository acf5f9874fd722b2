package installer

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// heard is a logger that remembers whether it was requested.
type heard struct {
	logf.NullLogSink
	asked *[]string
}

func (h heard) WithName(name string) logr.LogSink {
	*h.asked = append(*h.asked, name)
	return h
}

func (h heard) WithValues(...any) logr.LogSink {
	*h.asked = append(*h.asked, "values")
	return h
}

// TestCluster_AProgramWithoutALogger: controller-runtime writes a complaint with a stack to standard error when its logger is requested and
// was never set. A program that only calls this package has none to set. It runs in a process of its own: a logger can be set once.
func TestCluster_AProgramWithoutALogger(t *testing.T) {
	const alone = "MANIFEST_TEST_WITHOUT_A_LOGGER"
	if os.Getenv(alone) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), alone+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Warning", `299 - "this version is old"`)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"a","name":"b"}}`))
	}))
	defer server.Close()
	var asked []string
	logf.SetLogger(logr.New(heard{asked: &asked}))
	asked = nil // by what was there before
	cluster, err := Connect(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_ = cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "b"}, &corev1.ConfigMap{}) // whatever comes of it
	if len(asked) > 0 {
		t.Errorf("the global logger was asked for %s", strings.Join(asked, ", "))
	}
}
