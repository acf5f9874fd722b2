package permissions

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	groupDefinitions = "apiextensions.k8s.io"
	kindDefinition   = "CustomResourceDefinition"
)

// CustomDefinition is a CustomResourceDefinition, as far as a change of it matters to others.
type CustomDefinition struct {
	Named

	// Served are the versions that clients can use, sorted.
	Served []string `json:"served,omitempty"`
	// Stored is the version that objects are stored in.
	Stored string `json:"stored,omitempty"`
	// Scope is Namespaced or Cluster.
	Scope string `json:"scope,omitempty"`
	// Conversion names what converts objects between versions: "" for the API server, else a Service or the host of a URL.
	Conversion string `json:"conversion,omitempty"`
}

// readDefinitions lists the CustomResourceDefinitions, and learns which resources are the module's own.
func (b *builder) readDefinitions() {
	for _, object := range b.ofKind(groupDefinitions, kindDefinition) {
		spec, _ := object.Object["spec"].(map[string]any)
		if spec == nil {
			b.unreadable(object, "what it defines is unknown")
			continue
		}
		if _, builtin := nouns[object.GetName()]; !builtin { // a definition makes nothing of Kubernetes the module's own
			b.own[object.GetName()] = true
		}
		definition := CustomDefinition{Named: Named{object.GetName(), definitionHash(spec)}}
		definition.Scope, _ = spec["scope"].(string)
		for _, version := range entries(spec, "versions") {
			name, _ := version["name"].(string)
			if served, _ := version["served"].(bool); served {
				definition.Served = append(definition.Served, name)
			}
			if stored, _ := version["storage"].(bool); stored {
				definition.Stored = name
			}
		}
		slices.Sort(definition.Served)
		definition.Conversion = conversionOf(spec)
		b.out.Definitions = append(b.out.Definitions, definition)
		b.reportDefinition(object, &definition)
	}
	slices.SortStableFunc(b.out.Definitions, func(a, b CustomDefinition) int { return strings.Compare(a.Name, b.Name) })
	b.out.Definitions = slices.CompactFunc(b.out.Definitions, func(a, b CustomDefinition) bool { return a.Name == b.Name })
}

func (b *builder) reportDefinition(object *unstructured.Unstructured, definition *CustomDefinition) {
	b.add(Finding{
		Key: joinKey("definition", escapes.Replace(definition.Name)), Category: CategoryDefinition, Severity: Info, Rule: place(object),
		Sentence: "Defines " + short(definition.Name) + ".",
	})
	if definition.Conversion == "" {
		return
	}
	finding := Finding{
		Key:      joinKey("definition", escapes.Replace(definition.Name), "conversion", escapes.Replace(definition.Conversion)),
		Category: CategoryDefinition, Severity: Low, Rule: place(object) + " spec.conversion",
		Sentence: "Converts every " + short(definition.Name) + " by " + shortCarrier(definition.Conversion) + ", which sees its content.",
	}
	if strings.HasPrefix(definition.Conversion, prefixHost) {
		finding.Severity = High
		finding.Sentence = "Sends every " + short(definition.Name) + " to " + shortCarrier(definition.Conversion) +
			" outside the cluster to convert it."
	}
	b.add(finding)
}

// prefixHost begins what answers requests from outside the cluster.
const prefixHost = "host "

// conversionOf returns what converts objects: "Service ns/name", "host example.com", or "" for the API server itself.
func conversionOf(spec map[string]any) string {
	conversion, _ := spec["conversion"].(map[string]any)
	if conversion["strategy"] != "Webhook" {
		return ""
	}
	client := fieldsAt(conversion, []string{"webhook", "clientConfig"})
	if address, _ := client["url"].(string); address != "" {
		return prefixHost + hostOf(address)
	}
	service, _ := client["service"].(map[string]any)
	name, _ := service["name"].(string)
	namespace, _ := service["namespace"].(string)
	return "Service " + namespace + "/" + name
}

// definitionHash identifies what a definition accepts, and not how it is documented.
func definitionHash(spec map[string]any) string {
	stripped, _ := strip(spec).(map[string]any)
	return inventory.ContentHash(&unstructured.Unstructured{Object: stripped})
}

// undefining are fields of a definition that accept and refuse nothing.
var undefining = []string{
	"description", "title", "example", "externalDocs", "additionalPrinterColumns", "categories", "caBundle", "shortNames",
}

// strip returns a value without texts for people. A property may have such a name too: then its value is a schema.
func strip(value any) any {
	switch value := value.(type) {
	case map[string]any:
		left := make(map[string]any, len(value))
		for name, field := range value {
			if _, schema := field.(map[string]any); slices.Contains(undefining, name) && (!schema || name == "externalDocs" || name == "example") {
				continue
			}
			if name == "default" || name == "enum" {
				left[name] = field
			} else {
				left[name] = strip(field)
			}
		}
		return left
	case []any:
		left := make([]any, len(value))
		for i, item := range value {
			left[i] = strip(item)
		}
		return left
	default:
		return value
	}
}

// DefinitionChange is a definition that is new, gone or different.
type DefinitionChange struct {
	// Name of the definition: widgets.example.com.
	Name string `json:"name"`
	// Severity of the gravest change.
	Severity Severity `json:"severity"`
	// Sentences say what is different, the gravest first.
	Sentences []string `json:"sentences"`
}

// compareDefinitions returns the definitions that are new, gone or different, by name.
func compareDefinitions(before, after []CustomDefinition) []DefinitionChange {
	was, is := map[string]*CustomDefinition{}, map[string]*CustomDefinition{}
	for i := range before {
		was[before[i].Name] = &before[i]
	}
	for i := range after {
		is[after[i].Name] = &after[i]
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	var changes []DefinitionChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if change := compareDefinition(name, was[name], is[name]); change != nil {
			changes = append(changes, *change)
		}
	}
	return changes
}

func compareDefinition(name string, before, after *CustomDefinition) *DefinitionChange {
	switch {
	case before == nil:
		return &DefinitionChange{name, Low, []string{"Defines " + short(name) + "."}}
	case after == nil:
		return &DefinitionChange{name, High, []string{"No longer defines " + short(name) + ": its objects go with the definition."}}
	}
	change := DefinitionChange{Name: name}
	tell := func(severity Severity, sentence string) {
		change.Severity = max(change.Severity, severity)
		change.Sentences = append(change.Sentences, sentence+".")
	}
	if before.Scope != after.Scope {
		tell(High, "Changes the scope of "+short(name)+" to "+short(after.Scope))
	}
	if gone := missing(before.Served, after.Served); gone != "" {
		tell(Medium, "No longer serves "+short(name)+" in version "+gone)
	}
	if before.Stored != after.Stored {
		tell(Medium, "Stores "+short(name)+" in version "+short(after.Stored)+" instead of "+short(before.Stored))
	}
	if before.Conversion != after.Conversion {
		tell(Medium, "Converts "+short(name)+" by "+converter(after.Conversion)+" instead of "+converter(before.Conversion))
	}
	if added := missing(after.Served, before.Served); added != "" {
		tell(Low, "Serves "+short(name)+" also in version "+added)
	}
	if len(change.Sentences) == 0 && before.Hash != after.Hash {
		tell(Low, "Changes the schema of "+short(name))
	}
	if len(change.Sentences) == 0 {
		return nil
	}
	return &change
}

// missing lists what of some versions is not among others.
func missing(some, others []string) string {
	var left []string
	for _, name := range some {
		if !slices.Contains(others, name) {
			left = append(left, short(name))
		}
	}
	return enumerate(left, ", ")
}

func converter(conversion string) string {
	if conversion == "" {
		return "the API server"
	}
	return shortCarrier(conversion)
}

// findings makes a finding of each sentence.
func (c DefinitionChange) findings() []Finding {
	found := make([]Finding, 0, len(c.Sentences))
	for _, sentence := range c.Sentences {
		found = append(found, Finding{
			Key: joinKey("definition", escapes.Replace(c.Name), sentence), Category: CategoryDefinition, Severity: c.Severity, Sentence: sentence,
		})
	}
	return found
}
