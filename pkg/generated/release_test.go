package generated_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/generated"
)

// A release goes into the Secret with the values of its source, and comes back as it was.
func TestRelease_IsKept(t *testing.T) {
	release := &generated.Release{Inputs: "abc", Revision: 3, Found: values{"v1 Secret a/b": json.RawMessage(`{"data":{"k":"v"}}`), "v1 Node *": json.RawMessage("null")}}
	used := values{"call 1": json.RawMessage(`"x"`)}
	store := generated.Store{}.With("a", generated.WithRelease(used, release))
	if len(used) != 1 {
		t.Error("the values that it was called with have changed")
	}
	secret, err := store.Secret("default", "s")
	if err != nil {
		t.Fatal(err)
	}
	read, err := generated.Read(secret)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(release, read.Release("a")); diff != "" {
		t.Errorf("release (-want +got):\n%s", diff)
	}
	if read.Release("b") != nil {
		t.Error("another source has a release")
	}
	if string(read.Values["a"]["call 1"]) != `"x"` {
		t.Error("the generated value is gone")
	}
}

// A later release takes the place of the one before, with all that it has found.
func TestRelease_IsReplaced(t *testing.T) {
	store := generated.Store{}.With("a", generated.WithRelease(nil, &generated.Release{Inputs: "1", Revision: 1, Found: values{"q": json.RawMessage("{}")}}))
	store = store.With("a", generated.WithRelease(nil, &generated.Release{Inputs: "2", Revision: 2}))
	if diff := cmp.Diff(&generated.Release{Inputs: "2", Revision: 2, Found: values{}}, store.Release("a")); diff != "" {
		t.Errorf("release (-want +got):\n%s", diff)
	}
}

func TestStore_Next(t *testing.T) {
	kept := func() generated.Store {
		return generated.Store{}.With("a", generated.WithRelease(nil, &generated.Release{Inputs: "1", Revision: 3, Found: values{"q": json.RawMessage("{}")}}))
	}
	for name, test := range map[string]struct {
		store  generated.Store
		before generated.Before
		want   generated.Release
		asks   bool
	}{
		"the first one of an installation is 1":                    {generated.Store{}, generated.Nothing, generated.Release{Inputs: "1", Revision: 1, Found: values{}}, true},
		"the same inputs are the same release, with its answers":   {kept(), generated.OtherContent, generated.Release{Inputs: "1", Revision: 3, Found: values{"q": json.RawMessage("{}")}}, true},
		"what was installed without one goes on, and does not ask": {generated.Store{}, generated.SameContent, generated.Release{Inputs: "1", Revision: 1, Found: values{}}, false},
		"other content than was installed without one upgrades it": {generated.Store{}, generated.OtherContent, generated.Release{Inputs: "1", Revision: 2, Found: values{}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			release, asks := test.store.Next("a", "1", test.before)
			if diff := cmp.Diff(&test.want, release); diff != "" || asks != test.asks {
				t.Errorf("asks %t, release (-want +got):\n%s", asks, diff)
			}
		})
	}
	next, asks := kept().Next("a", "2", generated.SameContent)
	if diff := cmp.Diff(&generated.Release{Inputs: "2", Revision: 4, Found: values{}}, next); diff != "" || !asks {
		t.Errorf("other inputs: asks %t, release (-want +got):\n%s", asks, diff)
	}
}

func TestHasResults(t *testing.T) {
	result := values{"call 1": json.RawMessage(`"x"`)}
	for name, test := range map[string]struct {
		values values
		want   bool
	}{
		"nothing":                {nil, false},
		"a release":              {generated.WithRelease(nil, &generated.Release{Revision: 1}), false},
		"a result":               {result, true},
		"a release and a result": {generated.WithRelease(result, &generated.Release{Revision: 1}), true},
	} {
		if got := generated.HasResults(test.values); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
