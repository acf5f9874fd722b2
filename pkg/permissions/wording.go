package permissions

import (
	"slices"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

// maxName bounds a name that a sentence quotes.
const maxName = 48

// short cuts a name of others for a sentence.
func short(name string) string { return excerpt.Cut(name, maxName) }

// plural writes a number with its noun.
func plural(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(count) + " " + noun + "s"
}

// describe returns how grave a right is, and what it allows.
func describe(r *Right) (Severity, string) {
	switch {
	case r.Role != "":
		severity, sentence := describeRole(r)
		return reach(r.Holder, severity), sentence
	case r.URL != "":
		severity, phrase := describeURL(r)
		return reach(r.Holder, severity), says(r.Holder, phrase)
	case r.Group == wildcard && r.Resource == wildcard && len(r.Names) == 0 && slices.Contains(r.Verbs, wildcard):
		return reach(r.Holder, severityAll(r)), describeAll(r)
	}
	severity, worst := severityOf(r)
	return reach(r.Holder, severity), says(r.Holder, phrase(r, worst))
}

// says makes a sentence of what a holder can do.
func says(holder, phrase string) string {
	if holder == "" {
		return "May " + phrase + "."
	}
	return "Lets " + describeHolder(holder) + " " + phrase + "."
}

// severityAll returns how grave it is to be allowed everything.
func severityAll(r *Right) Severity {
	if wide(r) {
		return Critical
	}
	return High
}

func describeAll(r *Right) string {
	what := "full control of the cluster (cluster-admin)"
	if r.Namespace != "" {
		what = "full control of namespace " + short(r.Namespace) + ", its Secrets included"
	}
	if r.Holder == "" {
		return "Has " + what + "."
	}
	return "Gives " + describeHolder(r.Holder) + " " + what + "."
}

// describeRole describes the rights of a role whose rules are not among the objects.
func describeRole(r *Right) (Severity, string) {
	kind, name, _ := strings.Cut(r.Role, " ")
	where := ""
	if kind == kindClusterRole || r.Namespace != "" && kind != kindRole {
		where = " " + scopePhrase(r)
	}
	start := "Gets the rights of "
	if r.Holder != "" {
		start = "Gives " + describeHolder(r.Holder) + " the rights of "
	}
	switch {
	case strings.HasPrefix(r.Role, gathered):
		selector := strings.TrimPrefix(r.Role, gathered)
		if selector == "" {
			return Critical, start + "every ClusterRole of the cluster" + where + "."
		}
		return Medium, start + "all ClusterRoles of the cluster with the label " + short(selector) + where + "."
	case userRole(r.Role) >= 0:
		return roleSeverity(r), start + "ClusterRole " + name + where + ": to " + roleMeaning[name] + "."
	case kind == kindClusterRole && builtinRole(name):
		return High, start + "the built-in ClusterRole " + short(name) + where + "."
	default:
		return High, start + kind + " " + short(name) + where + ", which is not part of the module."
	}
}

var roleMeaning = map[string]string{
	"view":  "read almost everything but Secrets",
	"edit":  "change almost everything, read Secrets and run commands",
	"admin": "change almost everything, and give its rights to others",
}

// roleSeverity returns how grave a role for users is.
func roleSeverity(r *Right) Severity {
	switch {
	case r.Role == "ClusterRole view" && wide(r):
		return Medium
	case r.Role == "ClusterRole view":
		return Low
	case wide(r):
		return Critical
	default:
		return High
	}
}

// describeURL describes a right to paths of the API server.
func describeURL(r *Right) (Severity, string) {
	verbs, severity := "call", Low
	if slices.Contains(r.Verbs, "get") && len(r.Verbs) == 1 {
		verbs = "read"
	}
	if r.URL == wildcard || r.URL == "/"+wildcard {
		if severity = Medium; verbs != "read" {
			severity = High
		}
		return severity, verbs + " every path of the API server that is no object, such as /metrics"
	}
	if verbs == "read" {
		severity = Info
	}
	return severity, verbs + " the path " + short(r.URL) + " of the API server"
}

// phrase says what a right allows, as what follows "may".
func phrase(r *Right, worst *hazard) string {
	why := ""
	if worst != nil && literal(r) {
		if worst.phrase != "" && !slices.Contains(r.Verbs, wildcard) {
			base := *r
			base.Resource, _, _ = strings.Cut(r.Resource, "/")
			return strings.NewReplacer("{scope}", scopePhrase(r), "{it}", objectPhrase(&base)).Replace(worst.phrase)
		}
		why = worst.why
	}
	if slices.Equal(r.Verbs, []string{"create"}) && literal(r) && len(r.Names) == 0 && !strings.Contains(r.Resource, "/") {
		return "create " + creationPhrase(r) + why
	}
	return verbPhrase(r.Verbs) + " " + objectPhrase(r) + included(r) + why
}

// creationPhrase names what a right allows to create: it is not there yet.
func creationPhrase(r *Right) string {
	if r.Namespace == "" && beyondNamespaces(r.Group, r.Resource) || r.Group == "" && r.Resource == "namespaces" {
		return pluralNoun(r.Group, r.Resource)
	}
	return pluralNoun(r.Group, r.Resource) + " " + scopePhrase(r)
}

// literal reports whether a right names its group and its resource.
func literal(r *Right) bool { return r.Group != wildcard && !strings.Contains(r.Resource, wildcard) }

// included says what a right reads that its verbs and its resource do not tell: that a wildcard has Secrets in it, and that a list
// shows more than names.
func included(r *Right) string {
	core := r.Group == "" || r.Group == wildcard
	switch {
	case core && r.Resource == wildcard && len(r.Names) == 0:
		return ", Secrets included"
	case core && (r.Resource == "secrets" || r.Resource == "configmaps") && readOnly(r.Verbs) && !slices.Contains(r.Verbs, "get"):
		return ", content included"
	default:
		return ""
	}
}

// verbPhrase says verbs in plain words.
func verbPhrase(verbs []string) string {
	if slices.Contains(verbs, wildcard) {
		return "do anything with"
	}
	var words []string
	add := func(word string, of ...string) {
		if slices.ContainsFunc(of, func(verb string) bool { return slices.Contains(verbs, verb) }) {
			words = append(words, word)
		}
	}
	add("read", "get")
	if len(words) == 0 {
		add("list", "list")
	}
	if len(words) == 0 {
		add("watch", "watch")
	}
	add("create", "create")
	add("change", "update", "patch")
	add("delete", "delete", "deletecollection")
	for _, verb := range verbs {
		if !ordinary(verb) {
			words = append(words, "use the verb "+short(verb)+" on")
		}
	}
	return sequence(words)
}

// sequence joins words as a sentence does.
func sequence(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// objectPhrase names what a right is about, with its reach.
func objectPhrase(r *Right) string {
	base, sub, hasSub := strings.Cut(r.Resource, "/")
	text := ""
	if hasSub {
		text = "the " + subresource(sub) + " of "
	}
	_, known := nouns[resourceText(r.Group, base)]
	switch {
	case len(r.Names) > 0:
		return text + namedPhrase(r, base)
	case base == wildcard && r.Group == wildcard:
		return text + "everything " + scopePhrase(r)
	case base == wildcard && r.Group == "":
		return text + "every object of the core API " + scopePhrase(r)
	case base == wildcard:
		return text + "every object of API group " + short(r.Group) + " " + scopePhrase(r)
	case r.Group == wildcard:
		return text + "all " + short(base) + " of any API group " + scopePhrase(r)
	case !known:
		return text + "all " + nounOf(r.Group, base) + " " + ofScope(r)
	case readOnly(r.Verbs):
		return text + "every " + nounOf(r.Group, base) + " " + ofScope(r)
	default:
		return text + "any " + nounOf(r.Group, base) + " " + ofScope(r)
	}
}

// namedPhrase names single objects.
func namedPhrase(r *Right, base string) string {
	noun := nounOf(r.Group, base)
	if base == wildcard {
		noun = "object"
	}
	if len(r.Names) > 1 {
		noun = pluralNoun(r.Group, base)
	}
	text := "the " + noun + " " + namesPhrase(r.Names)
	switch {
	case r.Namespace != "":
		return text + " " + scopePhrase(r)
	case base == "namespaces" || beyondNamespaces(r.Group, base) || r.Group == rbacv1.GroupName && base == "clusterroles":
		return text
	default:
		return text + " of any namespace"
	}
}

// ofScope says whose objects a right reaches.
func ofScope(r *Right) string {
	if r.Namespace == "" {
		return "of the cluster"
	}
	return scopePhrase(r)
}

// scopePhrase says in which namespaces a right holds.
func scopePhrase(r *Right) string {
	if r.Namespace == "" {
		return "in the whole cluster"
	}
	return "in namespace " + short(r.Namespace)
}

// readOnly reports whether verbs do nothing but read.
func readOnly(verbs []string) bool {
	return !slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(anyRead, verb) })
}

// namesPhrase quotes the first names.
func namesPhrase(names []string) string {
	const quoted = 2
	text := make([]string, 0, quoted)
	for _, name := range names[:min(len(names), quoted)] {
		text = append(text, strconv.Quote(short(name)))
	}
	if len(names) > quoted {
		return strings.Join(text, ", ") + " and " + plural(len(names)-quoted, "other")
	}
	return sequence(text)
}

// roleText writes a role in a sentence.
func roleText(name string) string {
	kind, name, _ := strings.Cut(name, " ")
	return kind + " " + short(name)
}

func subresource(name string) string {
	switch name {
	case "scale":
		return "size"
	case "status", "finalizers", "metrics":
		return name
	default:
		return strconv.Quote(short(name))
	}
}
