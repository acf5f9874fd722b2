package gitops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/yaml"
)

const healthFile = "../../config/gitops/argocd/health.yaml"

// health is what Argo CD reads of the answer of a script.
type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// healthOf runs the script for the object's kind as Argo CD does for scripts of argocd-cm: with the libraries base, table and package
// alone, and for a second at most. Argo CD itself calls whatever is being deleted Progressing; the scripts must not need that.
func healthOf(t *testing.T, scripts map[string]string, object *unstructured.Unstructured) health {
	t.Helper()
	gvk := object.GroupVersionKind()
	script := scripts[fmt.Sprintf("resource.customizations.health.%s_%s", gvk.Group, gvk.Kind)]
	if script == "" {
		t.Fatalf("no health check for %s", gvk)
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", luajson.DecodeValue(state, decoded(t, object)))
	if err := state.DoString(script); err != nil {
		t.Fatalf("%s: %v", gvk.Kind, err)
	}
	raw, err := luajson.Encode(state.Get(-1))
	if err != nil {
		t.Fatal(err)
	}
	var answer health
	if err := yaml.UnmarshalStrict(raw, &answer); err != nil {
		t.Fatalf("%s: %s: %v", gvk.Kind, raw, err)
	}
	return answer
}

// decoded returns an object as encoding/json reads it: the library knows no integers.
func decoded(t *testing.T, object *unstructured.Unstructured) any {
	t.Helper()
	raw, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func healthScripts(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(healthFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Data map[string]string `json:"data"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Data
}
