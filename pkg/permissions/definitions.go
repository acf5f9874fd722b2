package permissions

const kindDefinition = "CustomResourceDefinition"

// CustomDefinition is a CustomResourceDefinition, as far as a change of it matters to others.
type CustomDefinition struct {
	Named

	// Served are the versions that clients can use.
	Served []string `json:"served,omitempty"`
	// Stored is the version that objects are stored in.
	Stored string `json:"stored,omitempty"`
	// Scope is Namespaced or Cluster.
	Scope string `json:"scope,omitempty"`
	// Conversion names what converts between versions: "" for the API server, a Service or a URL.
	Conversion string `json:"conversion,omitempty"`
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

func (c DefinitionChange) findings() []Finding {
	found := make([]Finding, 0, len(c.Sentences))
	for _, sentence := range c.Sentences {
		found = append(found, Finding{Key: joinKey("definition", c.Name, sentence), Category: CategoryDefinition, Severity: c.Severity, Sentence: sentence})
	}
	return found
}

func compareDefinitions(before, after []CustomDefinition) []DefinitionChange { return nil }
