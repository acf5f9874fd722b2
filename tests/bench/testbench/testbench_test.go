package testbench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

const (
	patched = `{"stage":"ResponseComplete","verb":"patch","userAgent":"lifecycle-manager","requestURI":"/apis/x","objectRef":` +
		`{"resource":"kymas","apiGroup":"operator.kyma-project.io","subresource":"status"}}` + "\n"
	watchBegun = `{"stage":"ResponseStarted","verb":"watch","userAgent":"lifecycle-manager","objectRef":{"resource":"secrets"}}` + "\n"
	watchEnded = `{"stage":"ResponseComplete","verb":"watch","userAgent":"lifecycle-manager","objectRef":{"resource":"secrets"}}` + "\n"
	version    = `{"stage":"ResponseComplete","verb":"get","userAgent":"lifecycle-manager","requestURI":"/version"}` + "\n"
)

func TestAudit(t *testing.T) {
	status := calls.Call{Verb: "patch", Resource: "kymas.operator.kyma-project.io/status", Agent: "lifecycle-manager"}
	secrets := calls.Call{Verb: "watch", Resource: "secrets", Agent: "lifecycle-manager"}
	plain := calls.Call{Verb: "get", Resource: "/version", Agent: "lifecycle-manager"}
	for name, test := range map[string]struct {
		parts []string
		want  calls.Counts
	}{
		"a call counts once it is answered":                 {[]string{patched + patched}, calls.Counts{status: 2}},
		"a watch counts when it begins, and not at its end": {[]string{watchBegun, watchEnded}, calls.Counts{secrets: 1}},
		"a path without a resource is told as it is":        {[]string{version}, calls.Counts{plain: 1}},
		"half a line waits for its other half":              {[]string{patched + version[:20], version[20:]}, calls.Counts{status: 1, plain: 1}},
		"no one called":                                     {nil, calls.Counts{}},
	} {
		t.Run(name, func(t *testing.T) {
			a, flags, err := newAudit(t.TempDir(), "somebody")
			if err != nil {
				t.Fatal(err)
			}
			if flags["audit-log-path"] != a.path {
				t.Errorf("the API server writes to %s, and %s is read", flags["audit-log-path"], a.path)
			}
			for _, part := range test.parts {
				appendTo(t, a.path, part)
				if _, err := a.snapshot(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := a.snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestModuleHasAsManyObjectsAsAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		module Module
		kinds  string
	}{
		"one kind":                       {Module{Name: "m", Version: "1.0.0", Objects: 3}, "ConfigMap"},
		"the Deployment is one of them":  {Module{Name: "m", Version: "1.0.0", Objects: 3, Deployment: true}, "ConfigMap Deployment"},
		"several kinds take turns":       {Module{Name: "m", Version: "1.0.0", Objects: 3, Kinds: 3}, "ConfigMap Secret ServiceAccount"},
		"text goes into every ConfigMap": {Module{Name: "m", Version: "1.0.0", Objects: 3, Text: 1000}, "ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, count := map[string]bool{}, 0
			for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(test.module.YAML()), 4096); ; count++ {
				object := &unstructured.Unstructured{}
				if err := decoder.Decode(object); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				kinds[object.GetKind()] = true
			}
			if count != test.module.Objects || len(kinds) != len(strings.Fields(test.kinds)) {
				t.Errorf("%d objects of %v, want %d of %s", count, kinds, test.module.Objects, test.kinds)
			}
		})
	}
}
