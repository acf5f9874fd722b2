package modulelint

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// rulePlace matches the place of a rule in a report: the role, and the number of the rule in it.
var rulePlace = regexp.MustCompile(`^(ClusterRole|Role) ("(?:[^"\\]|\\.)*") rule ([0-9]+)`)

// rights warns of rules that ask for everything of a kind: those who install the module must agree to all of it, and every later version
// can use it without asking again.
func (l *linter) rights(objects []*unstructured.Unstructured) {
	if !l.selects(RuleWildcardRights) {
		return
	}
	for _, found := range permissions.Wildcards(permissions.Analyse(objects)) {
		id, field := ruleOf(found.Rule, objects)
		l.inObject(l.manifest, id, RuleWildcardRights, diagnostics.Warning, field,
			fmt.Sprintf("%s (%s)", strings.TrimSuffix(found.Sentence, "."), found.Rule),
			"list the API groups, resources and verbs that the module needs")
	}
}

// ruleOf returns the role that a place in a report is in, and the field of its rule. Both are empty where that is no role of the module.
func ruleOf(place string, objects []*unstructured.Unstructured) (id inventory.ID, field string) {
	match := rulePlace.FindStringSubmatch(place)
	if match == nil {
		return inventory.ID{}, ""
	}
	name, err := strconv.Unquote(match[2])
	number, invalid := strconv.Atoi(match[3])
	if err != nil || invalid != nil {
		return inventory.ID{}, ""
	}
	namespace, short, within := strings.Cut(name, "/")
	if !within {
		namespace, short = "", name
	}
	for _, object := range objects {
		fits := object.GetNamespace() == namespace || object.GetNamespace() == ""
		if object.GetKind() == match[1] && object.GetName() == short && fits {
			return inventory.IDOf(object), fmt.Sprintf("rules[%d]", number-1)
		}
	}
	return inventory.ID{}, ""
}
