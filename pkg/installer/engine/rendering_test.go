package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// recipe is a chart: it takes a password from a Secret that it looks up, and generates one where it finds none.
type recipe struct {
	// looksUp, generates and hides say what its template does; one that hides declares nothing of what it has generated.
	looksUp, generates, hides bool
	made                      int
}

var asked = render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}

func (r *recipe) render(_ context.Context, with *render.Generated) (render.Rendered, error) {
	value, results := fmt.Sprint("revision ", with.Revision), map[string]json.RawMessage{}
	if r.generates {
		known, ok := with.Values["call 1"]
		if !ok {
			r.made++
			known = json.RawMessage(fmt.Sprint(r.made))
		}
		results["call 1"] = known
		if !r.hides {
			value += ", made " + string(known)
		}
	}
	if r.looksUp {
		found, ok := with.Found[asked.String()]
		if !ok {
			return render.Rendered{}, &render.Unanswered{Lookup: asked}
		}
		value += ", found " + string(found)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": value}}
	return render.Rendered{Steps: render.OneStep([]*unstructured.Unstructured{object}), Generated: results}, nil
}

func finds(answer string) func(context.Context, render.Lookup) (json.RawMessage, error) {
	return func(context.Context, render.Lookup) (json.RawMessage, error) { return json.RawMessage(answer), nil }
}

func TestRendering(t *testing.T) {
	before := generated.Store{}.With("a", generated.WithRelease(
		map[string]json.RawMessage{"call 1": json.RawMessage("7")},
		&generated.Release{Inputs: "1", Revision: 2, Found: map[string]json.RawMessage{asked.String(): json.RawMessage(`"old"`)}},
	))
	looked := render.Rendered{Lookups: []render.Lookup{asked}}
	for name, test := range map[string]struct {
		recipe    recipe
		rendering engine.Rendering
		looked    render.Rendered
		blind     *render.NeedsLookups
		want      string
		anew      bool
	}{
		"a value that is not kept is made":        {recipe: recipe{generates: true}, want: "revision 1, made 1", anew: true},
		"a value that is kept is taken":           {recipe: recipe{generates: true}, rendering: engine.Rendering{Store: before}, want: "revision 1, made 7"},
		"a value that is in no object is not new": {recipe: recipe{generates: true, hides: true}, want: "revision 1"},
		"a lookup is answered":                    {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Lookup: finds("1")}, looked: looked, want: "revision 1, found 1"},
		"content that fails without one, too":     {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Lookup: finds("1")}, blind: &render.NeedsLookups{Lookups: looked.Lookups, Err: errors.New("no")}, want: "revision 1, found 1"},
		"the answer of the release stays":         {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Store: before, Inputs: "1", Lookup: finds("1")}, looked: looked, want: `revision 2, found "old"`},
		"other inputs ask again":                  {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Store: before, Inputs: "2", Lookup: finds("1")}, looked: looked, want: "revision 3, found 1"},
		"where nothing may be found nothing is":   {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Inputs: "1"}, looked: looked, want: "revision 1, found null"},
		"what was installed before does not ask":  {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Before: generated.SameContent, Lookup: finds("1")}, looked: looked, want: "revision 1, found null"},
		"a lookup that only this render does":     {recipe: recipe{looksUp: true}, rendering: engine.Rendering{Lookup: finds("1")}, want: "revision 1, found null"},
		"an upgrade that looks nothing up counts": {rendering: engine.Rendering{Before: generated.OtherContent}, looked: render.Rendered{ByRevision: true}, want: "revision 2"},
	} {
		t.Run(name, func(t *testing.T) {
			test.rendering.Source, test.rendering.Render = "a", test.recipe.render
			made, err := test.rendering.Run(t.Context(), test.looked, test.blind)
			if err != nil {
				t.Fatal(err)
			}
			if got := made.Steps[0][0].Object["data"]; got != test.want || made.GeneratedAnew != test.anew {
				t.Errorf("got %q, anew %t, want %q, %t", got, made.GeneratedAnew, test.want, test.anew)
			}
		})
	}
}

// What a release has found is among what is kept, beside what was generated.
func TestRendering_KeepsTheRelease(t *testing.T) {
	made := recipe{looksUp: true, generates: true}
	rendering := engine.Rendering{Source: "a", Inputs: "1", Lookup: finds("1"), Render: made.render}
	got, err := rendering.Run(t.Context(), render.Rendered{Lookups: []render.Lookup{asked}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := generated.WithRelease(map[string]json.RawMessage{"call 1": json.RawMessage("1")},
		&generated.Release{Inputs: "1", Revision: 1, Found: map[string]json.RawMessage{asked.String(): json.RawMessage("1")}})
	if diff := cmp.Diff(want, got.Generated); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// What a release has found would be gone with the next render, and with it what runs.
func TestRendering_ForgetsNothingInSilence(t *testing.T) {
	release := func(answer string) generated.Store {
		return generated.Store{}.With("a", generated.WithRelease(nil, &generated.Release{
			Inputs: "1", Revision: 1, Found: map[string]json.RawMessage{asked.String(): json.RawMessage(answer)},
		}))
	}
	for name, test := range map[string]struct{ answer, reason string }{
		"an object is missed":              {`{"data":{}}`, content.ReasonContentNotCovered},
		"what was not there is not missed": {"null", ""},
	} {
		t.Run(name, func(t *testing.T) {
			made := recipe{looksUp: true}
			rendering := engine.Rendering{Source: "a", Inputs: "1", Store: release(test.answer), Render: made.render}
			_, err := rendering.Run(t.Context(), render.Rendered{Lookups: []render.Lookup{asked}}, nil)
			if content.ReasonOf(err) != test.reason {
				t.Errorf("error %v, want %q", err, test.reason)
			}
		})
	}
}

// A template may look up another name each time.
func TestRendering_Ends(t *testing.T) {
	calls := 0
	rendering := engine.Rendering{Source: "a", Lookup: finds("null"), Render: func(context.Context, *render.Generated) (render.Rendered, error) {
		calls++
		return render.Rendered{}, &render.Unanswered{Lookup: render.Lookup{Kind: "Secret", Name: fmt.Sprint(calls)}}
	}}
	_, err := rendering.Run(t.Context(), render.Rendered{Lookups: []render.Lookup{asked}}, nil)
	if content.ReasonOf(err) != content.ReasonContentTooLarge || calls > 2*render.MaxLookups {
		t.Errorf("after %d renders: %v", calls, err)
	}
}

// A lookup that cannot be answered is no render.
func TestRendering_TellsWhatStoppedIt(t *testing.T) {
	made, no := recipe{looksUp: true}, errors.New("no")
	rendering := engine.Rendering{Source: "a", Render: made.render, Lookup: func(context.Context, render.Lookup) (json.RawMessage, error) {
		return nil, no
	}}
	if _, err := rendering.Run(t.Context(), render.Rendered{Lookups: []render.Lookup{asked}}, nil); !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
}
