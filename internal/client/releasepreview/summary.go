package releasepreview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Line is what changes in one respect, for people.
type Line struct {
	// Group is the respect in a word, Text sums it up, and Details list it, the gravest first. More counts the details that are left out.
	Group   string   `json:"group"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"`
	More    int      `json:"more,omitempty"`
}

// Summary returns what changes, one line for each respect in which something does; rights, objects and the way back are always told. most
// is how many details a line has, 0 means all.
func (c *Changes) Summary(most int) []Line {
	lines := []Line{c.rights(most == 0)}
	for _, line := range []Line{
		c.webhooks(), c.apiServices(), c.definitions(), c.images(), c.objects(), c.restarting(), c.required(), c.settings(),
	} {
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

// rights tells the rights that come and go; what every module does is among them only where everything is shown.
func (c *Changes) rights(all bool) Line {
	line := Line{Group: "rights", Text: counted(asking(c.Rights.Added), "new", asking(c.Rights.Removed), "given up")}
	switch {
	case line.Text == "" && c.From == nil:
		line.Text = "none beyond its own"
	case line.Text == "":
		line.Text = "the same"
	}
	for _, list := range []struct {
		sign     string
		findings []permissions.Finding
	}{{"+ ", c.Rights.Added}, {"- ", c.Rights.Removed}} {
		for i := range list.findings {
			if finding := &list.findings[i]; all || finding.Severity > permissions.Info {
				line.Details = append(line.Details, list.sign+describeFinding(finding))
			}
		}
	}
	return line
}

// asking counts the rights that not every module has.
func asking(findings []permissions.Finding) int {
	count, _, _, _, _ := permissions.Difference{Added: findings}.Counts() //nolint:dogsled // the other numbers are of other lists
	return count
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
	switch allowed := len(c.Definitions) - refused; {
	case refused > 0:
		line.Text = joined(line.Text, english.Plural(refused, "change is", "changes are")+" refused where the definition exists")
	case allowed > 0:
		line.Text = joined(line.Text, english.Plural(allowed, "unsafe change is", "unsafe changes are")+" allowed")
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

// joined joins two parts of a sentence, of which the first may be empty.
func joined(first, second string) string { return strings.TrimPrefix(first+"; "+second, "; ") }

func (c *Changes) images() Line {
	r := &c.Rights
	line := Line{Group: "images", Text: counted(
		len(r.ImagesAdded), "new", len(r.ImagesChanged), "in another version", len(r.ImagesRemoved), "gone",
	)}
	for _, image := range r.ImagesAdded {
		line.Details = append(line.Details, "+ "+image.String())
	}
	for _, image := range r.ImagesChanged {
		line.Details = append(line.Details, fmt.Sprintf("~ %s/%s %s -> %s", image.Registry, image.Repository,
			versionsOf(image.Before), versionsOf(image.After)))
	}
	for _, image := range r.ImagesRemoved {
		line.Details = append(line.Details, "- "+image.String())
	}
	return line
}

// versionsOf joins tags and digests, without the colon before a tag.
func versionsOf(texts []string) string {
	var all []string
	for _, text := range texts {
		all = append(all, strings.TrimPrefix(text, ":"))
	}
	return strings.Join(all, ", ")
}

func (c *Changes) objects() Line {
	o := &c.Objects
	line := Line{Group: "objects", Text: counted(
		len(o.Added), "added", len(o.Removed), "removed", len(o.Changed), "changed", o.Unchanged, "unchanged",
	)}
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
	if f.From == fielddiff.SecretValue || f.To == fielddiff.SecretValue {
		return f.Path + ": " + secretly(f)
	}
	return f.Path + ": " + quoted(f.From) + " -> " + quoted(f.To)
}

// secretly says what happens to a value that is not shown.
func secretly(f Field) string {
	switch {
	case f.From == "":
		return "added"
	case f.To == "":
		return "removed"
	}
	return "changed"
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
		line.Details = append(line.Details, "+ "+requirements.Requirement(one).String())
	}
	for _, one := range c.Requirements.Removed {
		line.Details = append(line.Details, "- "+requirements.Requirement(one).String())
	}
	return line
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
