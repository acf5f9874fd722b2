package editcmd

import (
	"bytes"
	"context"
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

// bench is a namespace of its own with two modules on offer, and a command line.
type bench struct {
	*testing.T
	client.WithWatch
	config    *rest.Config
	namespace string
}

// newBench offers notes (regular 1.0.0, fast 1.1.0, template of 1.2.0) and beacon (fast 0.1.0).
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
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "change-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	b := &bench{t, c, config, namespace.Name}
	b.release("notes", "regular", "1.0.0", "fast", "1.1.0")
	b.release("beacon", "fast", "0.1.0")
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		b.template("notes", version)
	}
	b.template("beacon", "0.1.0")
	return b
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) release(name string, channels ...string) {
	release := &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name},
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: name, OCMComponentName: "example.com/module/" + name},
	}
	for i := 0; i < len(channels); i += 2 {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	b.create(release)
}

func (b *bench) template(module, version string) *v1beta2.ModuleTemplate {
	template := &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: module + "-" + version},
		Spec:       v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version},
	}
	b.create(template)
	return template
}

// kyma creates a local Kyma.
func (b *bench) kyma(name string, modules ...v1beta2.Module) *v1beta2.Kyma {
	b.Helper()
	remote := false
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Remote: &remote, Modules: modules},
	}
	b.create(kyma)
	return kyma
}

func (b *bench) read(name string) *v1beta2.Kyma {
	b.Helper()
	kyma := &v1beta2.Kyma{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, kyma); err != nil {
		b.Fatal(err)
	}
	return kyma
}

// entries returns the modules of a Kyma as they would be written on a command line.
func (b *bench) entries(name string) string {
	b.Helper()
	var entries []string
	for _, m := range b.read(name).Spec.Modules {
		entry := m.Name
		if m.Version != "" {
			entry += "@" + m.Version
		}
		if m.Channel != "" {
			entry += ":" + m.Channel
		}
		entries = append(entries, entry)
	}
	return strings.Join(entries, " ")
}

// run runs one command line. Questions get no answer.
func (b *bench) run(args ...string) (code int, out, said string) {
	b.Helper()
	return b.runAs(&console.Console{In: strings.NewReader("")}, args...)
}

func (b *bench) runAs(c *console.Console, args ...string) (code int, out, said string) {
	return b.runIn(b.Context(), c, args...)
}

func (b *bench) runIn(ctx context.Context, c *console.Console, args ...string) (code int, out, said string) {
	b.Helper()
	var outBuffer, errBuffer bytes.Buffer
	c.Out, c.Err = &outBuffer, &errBuffer
	to := target.Of(b.config)
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	to.AddFlags(root.PersistentFlags())
	root.PersistentFlags().BoolVarP(&c.Yes, "yes", "y", false, "")
	root.AddCommand(Commands(c, to)...)
	root.SetArgs(append(args, "--namespace", b.namespace))
	code = c.Fail(root.ExecuteContext(ctx))
	return code, outBuffer.String(), errBuffer.String()
}
