package asks

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

func finding(severity permissions.Severity, category permissions.Category, sentence string) permissions.Finding {
	return permissions.Finding{Key: sentence, Severity: severity, Category: category, Sentence: sentence}
}

func TestLines(t *testing.T) {
	secrets := finding(permissions.Critical, permissions.CategoryRights, "May read every Secret of the cluster.")
	events := finding(permissions.Info, permissions.CategoryRights, "May write events.")
	defines := finding(permissions.Info, permissions.CategoryDefinition, "Defines notes.example.com.")
	report := permissions.Report{
		Findings:    []permissions.Finding{secrets, events, defines},
		Definitions: []permissions.CustomDefinition{{Named: permissions.Named{Name: "notes.example.com"}}, {Named: permissions.Named{Name: "old.example.com"}}},
	}
	for name, c := range map[string]struct {
		difference *permissions.Difference
		want       []string
	}{
		"all that a version may do": {nil, []string{
			"Critical  May read every Secret of the cluster.", "Info  May write events.", "Info  Defines notes.example.com.",
		}},
		"nothing differs": {&permissions.Difference{}, nil},
		"what differs, the gravest first": {&permissions.Difference{
			Added:   []permissions.Finding{secrets, defines},
			Removed: []permissions.Finding{events},
			DefinitionsChanged: []permissions.DefinitionChange{
				{Name: "notes.example.com", Severity: permissions.Low, Sentences: []string{"Defines notes.example.com."}},
				{Name: "old.example.com", Severity: permissions.Medium, Sentences: []string{"No longer serves old.example.com in version v1."}},
				{Name: "gone.example.com", Severity: permissions.High, Sentences: []string{"No longer defines gone.example.com: its objects go with the definition."}},
			},
			WebhooksRemoved: []permissions.Named{{Name: "ValidatingWebhookConfiguration notes"}},
			ImagesAdded:     []permissions.Image{{Registry: "docker.io", Repository: "a/b", Tag: "1"}, {Registry: "docker.io", Repository: "a/b", Tag: "2"}},
		}, []string{
			"Critical new May read every Secret of the cluster.",
			"High gone No longer defines gone.example.com: its objects go with the definition.",
			"Medium changed No longer serves old.example.com in version v1.",
			"Low new Defines notes.example.com.",
			"Low new Runs images from docker.io/a/b.",
			"Low gone No longer has ValidatingWebhookConfiguration notes.",
			"Info gone May write events.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := Answer{Report: report, Difference: c.difference}
			var got []string
			for _, line := range answer.Lines() {
				got = append(got, fmt.Sprintf("%s %s %s", line.Severity, line.Change, line.Sentence))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	secrets := finding(permissions.Critical, permissions.CategoryRights, "May read every Secret of the cluster.")
	for name, c := range map[string]struct {
		answer Answer
		want   string
	}{
		"of a comparison":      {Answer{Difference: &permissions.Difference{Added: []permissions.Finding{secrets}}}, "1 new right"},
		"of the status":        {Answer{Pending: &v1beta2.PendingVersion{Counts: v1beta2.PendingCounts{Webhooks: 2}}}, "2 webhooks"},
		"nothing was compared": {Answer{}, ""},
	} {
		if got := c.answer.Summary(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
