package gitops_test

import (
	"bytes"
	"os"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const fluxFolder = "../../config/gitops/flux/"

// fluxObjects decodes a file strictly into Flux's own types.
func fluxObjects(t *testing.T, file string) (sources []sourcev1.GitRepository, kustomizations []kustomizev1.Kustomization) {
	t.Helper()
	raw, err := os.ReadFile(fluxFolder + file)
	if err != nil {
		t.Fatal(err)
	}
	for document := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatal(err)
		}
		var into any
		switch head.APIVersion + " " + head.Kind {
		case sourcev1.GroupVersion.String() + " " + sourcev1.GitRepositoryKind:
			sources = append(sources, sourcev1.GitRepository{})
			into = &sources[len(sources)-1]
		case kustomizev1.GroupVersion.String() + " " + kustomizev1.KustomizationKind:
			kustomizations = append(kustomizations, kustomizev1.Kustomization{})
			into = &kustomizations[len(kustomizations)-1]
		default:
			t.Fatalf("%s: %s %s is no kind of Flux", file, head.APIVersion, head.Kind)
		}
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	return sources, kustomizations
}

func TestFluxExamplesFitTogether(t *testing.T) {
	sources, first := fluxObjects(t, "fleet.yaml")
	others, second := fluxObjects(t, "usable.yaml")
	if len(sources) != 1 || len(others) != 0 || len(first) != 2 || len(second) != 1 {
		t.Fatalf("%d and %d sources, %d and %d Kustomizations", len(sources), len(others), len(first), len(second))
	}
	for _, each := range append(first, second...) {
		if each.Spec.SourceRef.Name != sources[0].Name || each.Namespace != sources[0].Namespace {
			t.Errorf("%s: the source %s is another one", each.Name, each.Spec.SourceRef.Name)
		}
		if !each.Spec.Wait || each.Spec.Prune || each.Spec.Timeout == nil || each.Spec.Interval.Duration == 0 {
			t.Errorf("%s neither waits nor keeps: %+v", each.Name, each.Spec)
		}
		if each.Name == "kymas" && (len(each.Spec.DependsOn) != 1 || each.Spec.DependsOn[0].Name != first[0].Name) {
			t.Errorf("%s does not wait for the catalog: %+v", each.Name, each.Spec.DependsOn)
		}
	}
	if second[0].Name != first[1].Name {
		t.Errorf("%s does not replace %s", second[0].Name, first[1].Name)
	}
}

// TestFluxExpressionsCallAWarningCurrent evaluates the expressions in the order in which Flux does, after its own check of the generation.
func TestFluxExpressionsCallAWarningCurrent(t *testing.T) {
	_, kustomizations := fluxObjects(t, "usable.yaml")
	checks := kustomizations[0].Spec.HealthCheckExprs
	if len(checks) != 1 || checks[0].APIVersion != v1beta2.GroupVersion.String() || checks[0].Kind != "Kyma" {
		t.Fatalf("the checks are %+v", checks)
	}
	for _, test := range situations() {
		kyma, ok := test.object.(*v1beta2.Kyma)
		if !ok {
			continue
		}
		want := test.want
		if test.usable != "" {
			want = test.usable
		}
		t.Run(test.name, func(t *testing.T) {
			object := unstructuredOf(t, kyma)
			got := kstatus.InProgressStatus
			switch {
			case kyma.Status.ObservedGeneration != kyma.Generation, holds(t, checks[0].InProgress, object):
			case holds(t, checks[0].Failed, object):
				got = kstatus.FailedStatus
			case holds(t, checks[0].Current, object):
				got = kstatus.CurrentStatus
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// holds evaluates an expression with the fields of the object as variables.
func holds(t *testing.T, expression string, object *unstructured.Unstructured) bool {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("metadata", cel.DynType), cel.Variable("spec", cel.DynType), cel.Variable("status", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(object.Object)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	truth, ok := value.Value().(bool)
	if !ok {
		t.Fatalf("%s is no truth value: %v", expression, value)
	}
	return truth
}
