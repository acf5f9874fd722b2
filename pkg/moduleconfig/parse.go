package moduleconfig

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// Parse reads a module configuration. file is the name that findings carry. The configuration is never nil; it must not be used when there
// is an error among the findings.
//
//  1. The text is one YAML document. Unknown and duplicate keys are errors; a key with null counts as absent.
//  2. The keys determine the dialect, see [Config.Dialect].
//  3. The fields that the dialect requires must be present, and every field must be valid.
func Parse(file string, data []byte) (*Config, []diagnostics.Finding) {
	c := &Config{File: file, SecurityScanEnabled: true, at: map[string]position{}}
	r := &reader{file: file, at: c.at}
	if root := r.document(data); root != nil {
		r.object(root, "", r.fields(c))
		c.Dialect = c.dialect()
		if root.Kind == yaml.MappingNode {
			r.check(c)
		}
	}
	return c, diagnostics.Sort(r.findings)
}

// fields returns the keys of a configuration.
func (r *reader) fields(c *Config) map[string]handler {
	return map[string]handler{
		"name":                r.text(&c.Name),
		"version":             r.text(&c.Version),
		"manifest":            r.text(&c.Manifest),
		"defaultCR":           r.text(&c.DefaultCR),
		"repository":          r.text(&c.Repository),
		"repositoryTag":       r.text(&c.RepositoryTag),
		"documentation":       r.text(&c.Documentation),
		"icons":               r.links(&c.Icons),
		"resources":           r.links(&c.Resources),
		"team":                r.text(&c.Team),
		"labels":              r.dict(&c.Labels),
		"annotations":         r.dict(&c.Annotations),
		"manager":             r.manager(&c.Manager),
		"associatedResources": r.kinds(&c.AssociatedResources),
		"requiresDowntime":    r.flag(&c.RequiresDowntime),
		"internal":            r.flag(&c.Internal),
		"beta":                r.flag(&c.Beta),
		"mandatory":           r.flag(&c.Mandatory),
		"securityScanEnabled": r.flag(&c.SecurityScanEnabled),
		"security":            r.ignored,
		"channel":             r.text(&c.Channel),
		"resourceName":        r.text(&c.ResourceName),
		"namespace":           r.text(&c.Namespace),
		"customStateCheck":    r.stateChecks(&c.CustomStateCheck),
		"renderer":            r.text(&c.Renderer),
		"values":              r.values(c),
		"targetNamespace":     r.text(&c.TargetNamespace),
		"readiness":           r.text(&c.Readiness),
		"allowCRDChanges":     r.texts(&c.AllowCRDChanges),
		"images":              r.texts(&c.Images),
		"requires":            r.requires(&c.Requires),
		"rollbackTo":          r.text(&c.RollbackTo),
	}
}

// ignored reads the name of a file with settings of a security scanner, which the other tools no longer read either.
func (r *reader) ignored(node *yaml.Node, field string) {
	r.note(diagnostics.Finding{
		Rule: RuleIgnored, Severity: diagnostics.Warning, Line: node.Line, Column: node.Column, Field: field,
		Message: "has no effect: the file that it names is not read", Fix: "remove it, and list further images in images",
	})
}

// values reads the values of a chart, or the name of a file with them.
func (r *reader) values(c *Config) handler {
	return func(node *yaml.Node, field string) {
		if node.Kind != yaml.MappingNode {
			r.text(&c.Values)(node, field)
			return
		}
		text, err := yaml.Marshal(node)
		if err != nil {
			r.fail(node, RuleSyntax, field, "cannot be read: "+err.Error(), "correct the syntax, or put the values into a file")
			return
		}
		c.InlineValues = text
	}
}

// links reads a list of names and links, or a mapping of names to links.
func (r *reader) links(into *[]Link) handler {
	return func(node *yaml.Node, field string) {
		if node.Kind == yaml.MappingNode {
			r.pairs(node, field, func(key, value *yaml.Node, at string) {
				link := Link{Name: key.Value}
				if !isNull(value) {
					r.text(&link.Link)(value, at)
				}
				r.link(key, at, link.Link)
				*into = append(*into, link)
			})
			return
		}
		if node.Kind != yaml.SequenceNode {
			r.wrongType(node, field, "a list of names and links, or a mapping of names to links")
			return
		}
		seen := map[string]int{}
		r.each(func(element *yaml.Node, at string) {
			link := Link{}
			r.object(element, at, map[string]handler{"name": r.text(&link.Name), "link": r.text(&link.Link)})
			if element.Kind == yaml.MappingNode {
				r.listed(element, at, link, seen)
			}
			*into = append(*into, link)
		})(node, field)
	}
}

// listed judges one link of a list.
func (r *reader) listed(node *yaml.Node, field string, link Link, seen map[string]int) {
	line, twice := seen[link.Name]
	switch {
	case link.Name == "":
		r.failIn(node, RuleRequired, field+".name", "is missing", "name the link")
	case twice:
		r.failIn(node, RuleDuplicate, field+".name", fmt.Sprintf("is %s, which is already used in line %d", quoted(link.Name), line),
			"give it its own name")
	default:
		seen[link.Name] = node.Line
	}
	r.link(node, field+".link", link.Link)
}

// manager reads the object that runs the module's operator.
func (r *reader) manager(into **Manager) handler {
	return func(node *yaml.Node, field string) {
		found := &Manager{}
		keys := found.keys(r)
		keys["name"], keys["namespace"] = r.text(&found.Name), r.text(&found.Namespace)
		r.object(node, field, keys)
		if node.Kind != yaml.MappingNode {
			return
		}
		r.required(node, field, []member{{"name", found.Name}})
		r.kind(node, field, found.Kind)
		*into = found
	}
}

// kinds reads a list of kinds.
func (r *reader) kinds(into *[]Kind) handler {
	return r.each(func(node *yaml.Node, field string) {
		found := Kind{}
		r.object(node, field, found.keys(r))
		if node.Kind == yaml.MappingNode {
			r.kind(node, field, found)
		}
		*into = append(*into, found)
	})
}

func (k *Kind) keys(r *reader) map[string]handler {
	return map[string]handler{"group": r.text(&k.Group), "version": r.text(&k.Version), "kind": r.text(&k.Kind)}
}

// stateChecks reads the list that maps values of the default CR to states.
func (r *reader) stateChecks(into *[]StateCheck) handler {
	return r.each(func(node *yaml.Node, field string) {
		found := StateCheck{}
		r.object(node, field, map[string]handler{
			"jsonPath": r.text(&found.JSONPath), "value": r.text(&found.Value), "mappedState": r.text(&found.MappedState),
		})
		if node.Kind == yaml.MappingNode {
			r.stateCheck(node, field, found)
		}
		*into = append(*into, found)
	})
}
