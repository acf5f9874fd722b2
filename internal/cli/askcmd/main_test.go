package askcmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// server starts the API server that all tests of this package share, with our kinds and without a controller for them.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// bench is a namespace of its own with a catalog, and a command line.
type bench struct {
	*testing.T
	client.WithWatch
	config    *rest.Config
	namespace string
}

// newBench offers notes: regular 1.0.0, and fast 1.1.0, which needs beacon, a definition and Kubernetes. It also offers beacon 0.1.0.
func newBench(t *testing.T) *bench {
	t.Helper()
	config, err := server()
	if err != nil {
		t.Fatal(err)
	}
	c, err := target.Of(config).Client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ask-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	b := &bench{t, c, config, namespace.Name}
	b.offer("notes", map[string]string{"regular": "1.0.0", "fast": "1.1.0"}, map[string][]v1beta2.Requirement{"1.1.0": {
		{Module: "beacon", Version: ">=0.1 <1"}, {Definition: "kymas.operator.kyma-project.io", Served: "v1beta2"}, {Kubernetes: ">=1.20"},
	}})
	b.offer("beacon", map[string]string{"regular": "0.1.0"}, nil)
	return b
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) offer(module string, channels map[string]string, requires map[string][]v1beta2.Requirement) {
	b.Helper()
	release := &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: module},
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: module, OCMComponentName: "example.com/module/" + module},
	}
	for channel, version := range channels {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channel, Version: version})
		b.create(&v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: module + "-" + version},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version, Requires: requires[version]},
		})
	}
	b.create(release)
}

// kyma creates the local Kyma demo with these modules, which have these statuses.
func (b *bench) kyma(modules []v1beta2.Module, statuses ...v1beta2.ModuleStatus) {
	b.Helper()
	remote := false
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "demo"},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Remote: &remote, Modules: modules},
	}
	b.create(kyma)
	b.status(statuses...)
}

func (b *bench) status(statuses ...v1beta2.ModuleStatus) {
	b.Helper()
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "demo"}}
	patch, err := json.Marshal(map[string]any{"status": v1beta2.KymaStatus{
		State: "Ready", LastOperation: v1beta2.LastOperation{Operation: "x"}, Modules: statuses,
	}})
	if err == nil {
		err = b.Status().Patch(b.Context(), kyma, client.RawPatch("application/merge-patch+json", patch))
	}
	if err != nil {
		b.Fatal(err)
	}
}

// run runs one command line.
func (b *bench) run(args ...string) (code int, out, said string) {
	b.Helper()
	var outBuffer, errBuffer bytes.Buffer
	c := &console.Console{In: strings.NewReader(""), Out: &outBuffer, Err: &errBuffer}
	to := target.Of(b.config)
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	to.AddFlags(root.PersistentFlags())
	root.AddCommand(Commands(c, to)...)
	root.SetArgs(append(args, "--namespace", b.namespace))
	code = c.Fail(root.ExecuteContext(b.Context()))
	return code, strings.ReplaceAll(outBuffer.String(), b.namespace, "NS"), strings.ReplaceAll(errBuffer.String(), b.namespace, "NS")
}
