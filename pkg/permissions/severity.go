package permissions

import (
	"fmt"
	"slices"
)

// Severity is how much harm a right can do. A higher value is graver.
type Severity uint8

// The severities. Critical is control over the cluster or over all its secrets, High leads there, Medium reaches beyond the module, Low
// reads or changes little, and Info is what every module does.
const (
	Info Severity = iota
	Low
	Medium
	High
	Critical
)

var severityWords = []string{"Info", "Low", "Medium", "High", "Critical"}

// String returns the severity as a word.
func (s Severity) String() string {
	if int(s) < len(severityWords) {
		return severityWords[s]
	}
	return fmt.Sprintf("Severity(%d)", uint8(s))
}

// MarshalText writes the severity as a word.
func (s Severity) MarshalText() ([]byte, error) {
	if int(s) >= len(severityWords) {
		return nil, fmt.Errorf("severity %d has no name", uint8(s))
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads the word that MarshalText wrote.
func (s *Severity) UnmarshalText(text []byte) error {
	at := slices.Index(severityWords, string(text))
	if at < 0 {
		return fmt.Errorf("severity %q is unknown: it is one of %v", text, severityWords)
	}
	*s = Severity(at)
	return nil
}

// raised returns the severity one level higher.
func (s Severity) raised() Severity { return min(s+1, Critical) }

// lowered returns the severity one level lower.
func (s Severity) lowered() Severity { return max(s, Low) - 1 }

// Category says what kind of thing a finding is about.
type Category string

// The categories.
const (
	// CategoryUnreadable is what could not be judged, and may hold any right.
	CategoryUnreadable Category = "Unreadable"
	// CategoryRights are what RBAC allows: to the module, or through the module to others.
	CategoryRights Category = "Rights"
	// CategoryRole is a role that the module brings and binds to no subject.
	CategoryRole Category = "Role"
	// CategoryWorkload is what pods may do on their nodes, and whose identity and secrets they use.
	CategoryWorkload Category = "Workload"
	// CategoryToken is a token of a ServiceAccount that is kept in a Secret.
	CategoryToken Category = "Token"
	// CategoryWebhook is a webhook or policy that judges or changes the requests of others.
	CategoryWebhook Category = "Webhook"
	// CategoryDefinition is a CustomResourceDefinition.
	CategoryDefinition Category = "Definition"
	// CategoryAPIService is an API group that a program serves in place of the API server.
	CategoryAPIService Category = "APIService"
	// CategoryImage is an image whose content may change.
	CategoryImage Category = "Image"
	// CategoryExposure makes a program reachable from outside the cluster.
	CategoryExposure Category = "Exposure"
	// CategoryPlacement is a namespace of others that objects of the module are written into.
	CategoryPlacement Category = "Placement"
	// CategoryCluster is a setting that concerns the workloads of others.
	CategoryCluster Category = "Cluster"
)

// Categories returns all categories in the order in which user interfaces show them.
func Categories() []Category {
	return []Category{
		CategoryUnreadable, CategoryRights, CategoryWorkload, CategoryToken, CategoryWebhook, CategoryAPIService, CategoryDefinition,
		CategoryExposure, CategoryPlacement, CategoryCluster, CategoryImage, CategoryRole,
	}
}

// asks reports whether a new finding of the category is a new right. Webhooks and definitions have policy words of their own, images are
// compared by repository, and an unbound role gives no rights.
func (c Category) asks() bool {
	switch c {
	case CategoryWebhook, CategoryDefinition, CategoryImage, CategoryRole:
		return false
	default:
		return true
	}
}
