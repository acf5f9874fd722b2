package permissions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// answer is what a pair of versions differs in, written by hand.
type answer struct {
	Added              []string `json:"added,omitempty"`
	Removed            []string `json:"removed,omitempty"`
	Definitions        []string `json:"definitions,omitempty"`
	WebhooksAdded      []string `json:"webhooksAdded,omitempty"`
	WebhooksChanged    []string `json:"webhooksChanged,omitempty"`
	WebhooksRemoved    []string `json:"webhooksRemoved,omitempty"`
	APIServicesAdded   []string `json:"apiServicesAdded,omitempty"`
	APIServicesChanged []string `json:"apiServicesChanged,omitempty"`
	APIServicesRemoved []string `json:"apiServicesRemoved,omitempty"`
	ImagesAdded        []string `json:"imagesAdded,omitempty"`
	ImagesRemoved      []string `json:"imagesRemoved,omitempty"`
	ImagesChanged      []string `json:"imagesChanged,omitempty"`
	Asks               []string `json:"asks,omitempty"`
}

// TestCompare_FindsWhatAPersonFinds compares pairs of versions, as charts ship them, with answers that were written by hand. Everything
// has to be found, and nothing invented.
func TestCompare_FindsWhatAPersonFinds(t *testing.T) {
	folders, err := filepath.Glob("testdata/pairs/*")
	if err != nil || len(folders) < 50 {
		t.Fatalf("%d pairs: %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			before, after := permissions.Analyse(load(t, folder, "before")), permissions.Analyse(load(t, folder, "after"))
			want := answer{}
			if err := yaml.UnmarshalStrict(read(t, folder, "answer"), &want); err != nil {
				t.Fatal(err)
			}
			for _, list := range []*[]string{&want.Added, &want.Removed, &want.Definitions} {
				slices.Sort(*list)
			}
			if diff := cmp.Diff(want, answerOf(permissions.Compare(before, after))); diff != "" {
				t.Errorf("difference (-want +got):\n%s", diff)
			}
		})
	}
}

func answerOf(d permissions.Difference) answer {
	a := answer{
		Added: sentences(d.Added), Removed: sentences(d.Removed),
		WebhooksAdded: names(d.WebhooksAdded), WebhooksChanged: names(d.WebhooksChanged), WebhooksRemoved: names(d.WebhooksRemoved),
		APIServicesAdded: names(d.APIServicesAdded), APIServicesChanged: names(d.APIServicesChanged), APIServicesRemoved: names(d.APIServicesRemoved),
	}
	for _, change := range d.DefinitionsChanged {
		for _, sentence := range change.Sentences {
			a.Definitions = append(a.Definitions, fmt.Sprintf("%s %s: %s", change.Severity, change.Name, sentence))
		}
	}
	slices.Sort(a.Definitions)
	for _, image := range d.ImagesAdded {
		a.ImagesAdded = append(a.ImagesAdded, image.String())
	}
	for _, image := range d.ImagesRemoved {
		a.ImagesRemoved = append(a.ImagesRemoved, image.String())
	}
	for _, change := range d.ImagesChanged {
		text := fmt.Sprintf("%s/%s: %s -> %s", change.Registry, change.Repository, strings.Join(change.Before, " "), strings.Join(change.After, " "))
		a.ImagesChanged = append(a.ImagesChanged, strings.TrimSpace(text))
	}
	for word, asks := range map[string]bool{"NewRights": d.NewRights(), "NewWebhook": d.NewWebhook(), "DefinitionChange": d.DefinitionChange()} {
		if asks {
			a.Asks = append(a.Asks, word)
		}
	}
	slices.Sort(a.Asks)
	return a
}

func sentences(findings []permissions.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Severity.String()+": "+f.Sentence)
	}
	slices.Sort(all)
	return all
}

func names(all []permissions.Named) []string {
	var texts []string
	for _, named := range all {
		texts = append(texts, named.Name)
	}
	return texts
}

func read(t testing.TB, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func load(t testing.TB, folder, name string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(string(read(t, folder, name)), "\n---\n") {
		fields := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &fields); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, &unstructured.Unstructured{Object: fields})
	}
	return objects
}
