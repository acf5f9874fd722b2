package generated_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/generated"
)

type values = map[string]json.RawMessage

// secretOf returns a Secret with a text as its values.
func secretOf(text string) *unstructured.Unstructured {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "resourceVersion": "7"},
		"data": map[string]any{"values.json": base64.StdEncoding.EncodeToString([]byte(text))},
	}}
	return secret
}

func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		secret *unstructured.Unstructured
		want   map[string]map[string]json.RawMessage
		wrong  string
	}{
		"values of two sources": {
			secretOf(`{"a": {"call 1": "x"}, "b": {"call 1": {"Cert": "y"}}}`),
			map[string]map[string]json.RawMessage{"a": {"call 1": json.RawMessage(`"x"`)}, "b": {"call 1": json.RawMessage(`{"Cert": "y"}`)}}, "",
		},
		"a Secret without data":              {&unstructured.Unstructured{Object: map[string]any{}}, nil, ""},
		"no text":                            {secretOf(""), nil, ""},
		"an empty object":                    {secretOf("{}"), map[string]map[string]json.RawMessage{}, ""},
		"a text that is no JSON":             {secretOf("hunter2"), nil, "values.json is no JSON object"},
		"a list":                             {secretOf(`["hunter2"]`), nil, "values.json is no JSON object"},
		"something behind the JSON":          {secretOf(`{} hunter2`), nil, "values.json is no JSON object"},
		"more than an installation may have": {secretOf(`{"a": {"b": "` + strings.Repeat("x", generated.MaxBytes) + `"}}`), nil, "more than 512 KiB"},
		"data that is no base64": {
			&unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"values.json": "hunter2!"}}}, nil, "is not encoded",
		},
		"a release that has no number": {secretOf(`{"a": {"release": {"inputs": "hunter2"}}}`), nil, `values.json has no revision in the entry "release" of source "a"`},
		"a release that is no object":  {secretOf(`{"a": {"release": "hunter2"}}`), nil, `in the entry "release" of source "a"`},
		"data of another kind":         {&unstructured.Unstructured{Object: map[string]any{"data": "hunter2!"}}, nil, "data"},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := generated.Read(test.secret)
			if (err != nil) != (test.wrong != "") || !strings.Contains(fmt.Sprint(err), test.wrong) && test.wrong != "" {
				t.Fatalf("error %v, want %q", err, test.wrong)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") && name != "data of another kind" {
				t.Errorf("the message shows the value: %v", err)
			}
			if diff := cmp.Diff(test.want, store.Values); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if store.Version != test.secret.GetResourceVersion() {
				t.Errorf("version %q", store.Version)
			}
		})
	}
}

// What is written is read again, what was kept stays, and equal values are equal objects.
func TestStore_KeepsWhatWasUsed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	store, want := generated.Store{}, map[string]map[string]json.RawMessage{}
	if !store.Empty() {
		t.Error("a new store has values")
	}
	for range 200 {
		source := fmt.Sprint("source", random.IntN(3))
		used := values{}
		for range random.IntN(4) {
			call := fmt.Sprint("templates/a.yaml randAlpha ", random.IntN(20))
			used[call] = json.RawMessage(fmt.Sprintf("%q", fmt.Sprint("<", random.Int64(), ">")))
		}
		before, err := store.Secret("n", "s")
		if err != nil {
			t.Fatal(err)
		}
		next := store.With(source, used)
		if after, err := store.Secret("n", "s"); err != nil || !cmp.Equal(before, after) {
			t.Fatal("the store that it was called on has changed")
		}
		for call, value := range used {
			if want[source] == nil {
				want[source] = values{}
			}
			want[source][call] = value
		}
		secret, err := next.Secret("n", "s")
		if err != nil {
			t.Fatal(err)
		}
		if store, err = generated.Read(secret); err != nil {
			t.Fatal(err)
		}
		if got := texts(store.Values); !cmp.Equal(texts(want), got) {
			t.Fatalf("values differ: %s", cmp.Diff(texts(want), got))
		}
		if again, err := store.Secret("n", "s"); err != nil || !cmp.Equal(secret, again) {
			t.Fatal("equal values are other objects")
		}
	}
	if store.Empty() {
		t.Error("a store with values is empty")
	}
}

// texts returns the values as JSON has them, whatever is escaped.
func texts(all map[string]map[string]json.RawMessage) map[string]string {
	found := map[string]string{}
	for source, values := range all {
		for call, raw := range values {
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				panic(err)
			}
			found[source+" "+call] = text
		}
	}
	return found
}

func TestStore_MakesRoom(t *testing.T) {
	large := func(bytes int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", bytes) + `"`) }
	half := generated.MaxBytes / 2
	store := generated.Store{}.With("a", values{"old": large(half)}).With("b", values{"other": large(1000)})
	store = store.With("a", values{"new": large(half)})
	if _, kept := store.Values["a"]["old"]; kept || len(store.Values["b"]) != 1 {
		t.Error("what is used no more has no room, and everything else has")
	}
	if _, err := store.Secret("n", "s"); err != nil {
		t.Error(err)
	}
	if _, err := store.With("b", values{"more": large(half)}).Secret("n", "s"); !errors.Is(err, generated.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}
