package target

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

func TestTarget_Only(t *testing.T) {
	kyma := func(namespace, name string) v1beta2.Kyma {
		return v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	var dozen []v1beta2.Kyma
	for i := range 12 {
		dozen = append(dozen, kyma("kcp-system", fmt.Sprintf("k%02d", i)))
	}
	for name, c := range map[string]struct {
		candidates []v1beta2.Kyma
		asked      string
		code       int
		said       string
	}{
		"the only one is meant":                            {[]v1beta2.Kyma{kyma("a", "x")}, "", 0, ""},
		"none at all is not found":                         {nil, "", 4, "there is no Kyma in this cluster"},
		"none of that name is not found":                   {nil, "x", 4, "there is no Kyma x"},
		"two of that name in two namespaces are not mixed": {[]v1beta2.Kyma{kyma("b", "x"), kyma("a", "x")}, "x", 64, "there are 2 Kymas, and none is named: a/x, b/x"},
		"of many, ten are named":                           {dozen, "", 64, "there are 12 Kymas, and none is named: kcp-system/k00"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := only(c.candidates, c.asked)
			if got := console.Code(err); got != c.code {
				t.Errorf("exit code %d, want %d: %v", got, c.code, err)
			}
			if err != nil && !strings.Contains(err.Error(), c.said) {
				t.Errorf("said %q, want %q in it", err, c.said)
			}
			if err != nil && strings.Contains(err.Error(), "k10") {
				t.Errorf("named more than ten: %v", err)
			}
		})
	}
}

// start returns a target on a fresh API server.
func start(t *testing.T) *Target {
	t.Helper()
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return Of(plane.Config)
}

func TestKyma(t *testing.T) {
	target := start(t)
	c, err := target.Client()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Kyma(t.Context(), c, ""); console.Code(err) != console.CodeNotFound || !strings.Contains(err.Error(), "not installed") {
		t.Fatalf("in a cluster without our kinds: %v, want that the lifecycle manager is not installed", err)
	}
	install := envtest.CRDInstallOptions{MaxTime: time.Minute, Paths: []string{"../../../config/crd/bases"}, ErrorIfPathMissing: true}
	if _, err := envtest.InstallCRDs(target.config, install); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"a", "b"} {
		if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
	}
	create := func(namespace, name string) {
		t.Helper()
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta2.KymaSpec{Channel: "regular"}}
		if err := c.Create(t.Context(), kyma); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(asked, want string, code int) {
		t.Helper()
		before := target.Requests()
		kyma, err := target.Kyma(t.Context(), c, asked)
		if console.Code(err) != code || err == nil && client.ObjectKeyFromObject(kyma).String() != want {
			t.Errorf("%q means %v, %v; want %q and exit code %d", asked, kyma, err, want, code)
		}
		if sent := target.Requests() - before; sent != 1 {
			t.Errorf("%q cost %d requests, want 1", asked, sent)
		}
	}
	create("a", "one")
	if _, err := target.Kyma(t.Context(), c, ""); err != nil { // the first list of a new kind may need a retry
		t.Fatal(err)
	}
	expect("", "a/one", 0)
	create("b", "one")
	create("b", "two")
	expect("three", "", console.CodeNotFound)
	expect("", "", console.CodeUsage)
	expect("one", "", console.CodeUsage)
	expect("two", "b/two", 0)
	expect("a/one", "a/one", 0)
	expect("a/two", "", console.CodeNotFound)
}
