package releasepreview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// Line is what changes in one respect, for people.
type Line struct {
	// Group is the respect in a word, Text sums it up, and Details list it, the gravest first. More counts the details that are left out.
	Group   string   `json:"group"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"`
	More    int      `json:"more,omitempty"`
}

// Summary returns what changes, one line for each respect in which something does; rights, objects and the way back are always told. most is
// how many details a line has, 0 means all.
func (c *Changes) Summary(most int) []Line {
	lines := []Line{c.rights()}
	for _, line := range []Line{c.webhooks(), c.apiServices(), c.definitions(), c.images(), c.objects(), c.restarting(), c.required(), c.settings()} {
		if line.Text != "" {
			lines = append(lines, line)
		}
	}
	if c.Downtime {
		lines = append(lines, Line{Group: "downtime", Text: "the upgrade waits for a maintenance window"})
	}
	if c.From != nil {
		lines = append(lines, c.back())
	}
	for i := range lines {
		if over := len(lines[i].Details) - most; most > 0 && over > 0 {
			lines[i].Details, lines[i].More = lines[i].Details[:most], over
		}
	}
	return lines
}

// counted joins numbers of things, without those that are none: "2 new, 1 removed".
func counted(pairs ...any) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if n, ok := pairs[i].(int); ok && n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, pairs[i+1]))
		}
	}
	return strings.Join(parts, ", ")
}

func (c *Changes) rights() Line {
	line := Line{Group: "rights", Text: counted(len(c.Rights.Added), "new", len(c.Rights.Removed), "given up")}
	if line.Text == "" {
		line.Text = "the same"
	}
	for i := range c.Rights.Added {
		line.Details = append(line.Details, "+ "+describeFinding(&c.Rights.Added[i]))
	}
	for i := range c.Rights.Removed {
		line.Details = append(line.Details, "- "+describeFinding(&c.Rights.Removed[i]))
	}
	return line
}

func describeFinding(f *permissions.Finding) string {
	return f.Severity.String() + ": " + f.Sentence
}

func (c *Changes) webhooks() Line {
	return named("webhooks", c.Rights.WebhooksAdded, c.Rights.WebhooksChanged, c.Rights.WebhooksRemoved)
}

func (c *Changes) apiServices() Line {
	return named("API services", c.Rights.APIServicesAdded, c.Rights.APIServicesChanged, c.Rights.APIServicesRemoved)
}

func named(group string, added, changed, removed []permissions.Named) Line {
	line := Line{Group: group, Text: counted(len(added), "new", len(changed), "changed", len(removed), "removed")}
	for _, list := range []struct {
		sign  string
		names []permissions.Named
	}{{"+ ", added}, {"~ ", changed}, {"- ", removed}} {
		for _, one := range list.names {
			line.Details = append(line.Details, list.sign+one.Name)
		}
	}
	return line
}

func (c *Changes) definitions() Line {
	refused := 0
	for i := range c.Definitions {
		if c.Definitions[i].Refused {
			refused++
		}
	}
	line := Line{Group: "definitions", Text: counted(len(c.Rights.DefinitionsChanged), "changed")}
	if refused > 0 {
		line.Text = strings.TrimPrefix(line.Text+"; "+english.Plural(refused, "change is", "changes are")+" refused where the definition exists", "; ")
	}
	for i := range c.Definitions {
		finding := &c.Definitions[i]
		word := "allowed by the ModuleTemplate"
		switch {
		case finding.Refused && finding.OnlyWithObjects:
			word = "refused where such objects exist"
		case finding.Refused:
			word = "refused"
		}
		line.Details = append(line.Details, fmt.Sprintf("! %s %s (%s)", finding.Definition, finding.Message, word))
	}
	for _, change := range c.Rights.DefinitionsChanged {
		line.Details = append(line.Details, "~ "+change.Name+": "+strings.Join(change.Sentences, " "))
	}
	return line
}

func (c *Changes) images() Line {
	r := &c.Rights
	line := Line{Group: "images", Text: counted(len(r.ImagesAdded), "new", len(r.ImagesChanged), "in another version", len(r.ImagesRemoved), "gone")}
	for _, image := range r.ImagesAdded {
		line.Details = append(line.Details, "+ "+image.String())
	}
	for _, image := range r.ImagesChanged {
		line.Details = append(line.Details, fmt.Sprintf("~ %s/%s %s -> %s", image.Registry, image.Repository,
			strings.Join(image.Before, ", "), strings.Join(image.After, ", ")))
	}
	for _, image := range r.ImagesRemoved {
		line.Details = append(line.Details, "- "+image.String())
	}
	return line
}

func (c *Changes) objects() Line {
	o := &c.Objects
	line := Line{Group: "objects", Text: counted(len(o.Added), "added", len(o.Removed), "removed", len(o.Changed), "changed", o.Unchanged, "unchanged")}
	for _, id := range o.Removed {
		line.Details = append(line.Details, "- "+id.String())
	}
	for _, id := range o.Added {
		line.Details = append(line.Details, "+ "+id.String())
	}
	for i := range o.Changed {
		line.Details = append(line.Details, "~ "+o.Changed[i].describe())
	}
	return line
}

// describe names an object and what changes in it.
func (c *ChangedObject) describe() string {
	if len(c.Fields) == 1 && c.MoreFields == 0 {
		return c.String() + ": " + c.Fields[0].String()
	}
	return c.String() + ": " + english.Plural(len(c.Fields)+c.MoreFields, "field", "")
}

// String returns the field with its values, in one line.
func (f Field) String() string {
	return f.Path + ": " + quoted(f.From) + " -> " + quoted(f.To)
}

// maxQuoted bounds a value in a line.
const maxQuoted = 120

func quoted(value string) string {
	if value == "" {
		return "(none)"
	}
	text := strconv.Quote(value)
	if runes := []rune(text); len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + "…"
	}
	return text
}

func (c *Changes) restarting() Line {
	line := Line{Group: "restarts"}
	if n := len(c.Objects.Restarts); n > 0 {
		line.Text = english.Plural(n, "workload", "")
	}
	for _, id := range c.Objects.Restarts {
		line.Details = append(line.Details, id.String())
	}
	return line
}

func (c *Changes) required() Line {
	line := Line{Group: "requirements", Text: counted(len(c.Requirements.Added), "new", len(c.Requirements.Removed), "gone")}
	for _, one := range c.Requirements.Added {
		line.Details = append(line.Details, "+ "+describeRequirement(one))
	}
	for _, one := range c.Requirements.Removed {
		line.Details = append(line.Details, "- "+describeRequirement(one))
	}
	return line
}

func describeRequirement(r v1beta2.Requirement) string {
	switch {
	case r.Module != "":
		return strings.TrimSpace("module " + r.Module + " " + r.Version)
	case r.Definition != "":
		return strings.TrimSpace("definition " + r.Definition + " " + r.Served)
	}
	return "Kubernetes " + r.Kubernetes
}

func (c *Changes) settings() Line {
	line := Line{Group: "template"}
	if n := len(c.Template); n > 0 {
		line.Text = english.Plural(n, "field", "")
	}
	for _, field := range c.Template {
		line.Details = append(line.Details, "~ "+field.String())
	}
	return line
}

func (c *Changes) back() Line {
	line := Line{Group: "way back"}
	switch {
	case c.WayBack.Vouched:
		line.Text = fmt.Sprintf("to %s, for which rollbackTo %q vouches", c.From.Version, c.WayBack.RollbackTo)
	case c.WayBack.RollbackTo == "":
		line.Text = fmt.Sprintf("only a person can go back to %s: the version has no rollbackTo", c.From.Version)
	default:
		line.Text = fmt.Sprintf("only a person can go back to %s: rollbackTo %q does not include it", c.From.Version, c.WayBack.RollbackTo)
	}
	return line
}
