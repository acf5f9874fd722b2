package inventory_test

import (
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// hashOf hashes one value inside an object.
func hashOf(value any) string {
	return inventory.ContentHash(&unstructured.Unstructured{Object: map[string]any{"value": value}})
}

// The hash is stored: when this test breaks, every object of every installation is applied again after an upgrade of the operator.
func TestContentHashIsStable(t *testing.T) {
	u := &unstructured.Unstructured{}
	text := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b","labels":{"x":"\"q\"\n","a":"ü<>"}},
		"spec":{"replicas":3,"paused":false,"ratio":0.25,"list":[1,"two",null,{}],"empty":[]}}`
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	if got, want := inventory.ContentHash(u), "c18de5bbd5619998"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestContentHashIsTheSame(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b any
	}{
		{"for every order of keys", map[string]any{"a": "1", "b": "2", "c": "3"}, map[string]any{"c": "3", "b": "2", "a": "1"}},
		{"for an integer and the same number as a float", int64(3), float64(3)},
		{"for every type of integer", int64(3), 3},
		{"for small types of integers", int64(3), int32(3)},
		{"for a map of Go code", map[string]any{"a": "1"}, map[string]string{"a": "1"}},
		{"for a list of Go code", []any{"a", "b"}, []string{"a", "b"}},
		{"for a number that the decoder kept as text", int64(12), json.Number("12")},
		{"for the same value that is not valid JSON", math.NaN(), math.NaN()},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := hashOf(test.a), hashOf(test.b); a != b {
				t.Errorf("%s and %s", a, b)
			}
		})
	}
}

func TestContentHashDiffers(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b any
	}{
		{"for another string", "a", "b"},
		{"for a number and its text", int64(1), "1"},
		{"for null and an empty string", nil, ""},
		{"for null and an empty object", nil, map[string]any{}},
		{"for an empty object and an empty list", map[string]any{}, []any{}},
		{"for true and false", true, false},
		{"for another order of a list", []any{"a", "b"}, []any{"b", "a"}},
		{"for a key that moved to another level", map[string]any{"a": map[string]any{"b": "1"}}, map[string]any{"a": map[string]any{}, "b": "1"}},
		{"for a string that imitates the encoding", map[string]any{"a": `1","b":"2`}, map[string]any{"a": "1", "b": "2"}},
		{"for an escaped character and the text of its escape", "\n", `\u000a`},
		{"for bytes that are not UTF-8", "\xff", "\xfe"},
		{"for a fraction", 0.5, int64(0)},
		{"for neighbours that a float does not distinguish", int64(1 << 60), int64(1<<60 + 1)},
		{"for values of different types that are not valid JSON", make(chan int), make(chan string)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := hashOf(test.a), hashOf(test.b); a == b {
				t.Errorf("both %s", a)
			}
		})
	}
}

func TestContentHashSeesEveryByteOfALargeObject(t *testing.T) {
	large := strings.Repeat("0123456789", 100_000)
	list := make([]any, 5000)
	for at := range list {
		list[at] = "entry"
	}
	seen := map[string]bool{}
	for _, value := range []any{large, large + "x", "x" + large, list, append(list[:4999:4999], "other")} {
		seen[hashOf(value)] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d hashes for 5 contents", len(seen))
	}
}

func TestContentHashIsSafeForConcurrentUse(t *testing.T) {
	u := configMap("a", strings.Repeat("x", 20_000))
	want := inventory.ContentHash(u)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if got := inventory.ContentHash(u); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	group.Wait()
}

func TestContentHashHardlyAllocates(t *testing.T) {
	u := configMap("a", "content")
	if got := testing.AllocsPerRun(100, func() { inventory.ContentHash(u) }); got > 5 {
		t.Errorf("%v allocations for one object", got)
	}
}
