package health

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// maxPath bounds the JSONPath of a StateCheck, in bytes.
const maxPath = 1024

// StateCheck maps a value in a module's own resource to a state.
type StateCheck struct {
	// JSONPath of the value, as kubectl writes it: .status.phase, status.phase, $.status.phase and {.status.phase} are the same. Fields,
	// indices, slices, wildcards and filters are supported; "..", unions and ranges are not.
	JSONPath string
	// Value is compared with the text of the value found: a string as it is, a number or a boolean as JSON writes it.
	Value string
	// State that applies when the check holds.
	State string
}

// Validate returns why a check can never map anything.
func (c StateCheck) Validate() error {
	_, err := c.parse()
	return err
}

// MapState returns the state of a module's own resource, by the first check that holds. A check whose path is invalid does not hold: see
// [StateCheck.Validate].
//
//  1. A check holds when its path finds something, and every value found (a wildcard finds several) equals the value of the check.
//     Objects, lists and null are not values.
//  2. A state that is known to be out of date is corrected as in [ModuleState]: Ready and Warning of an older generation are Processing,
//     and a resource that is being deleted is Deleting unless it reports trouble.
func MapState(u *unstructured.Unstructured, checks []StateCheck) (state string, found bool) {
	if u == nil {
		return "", false
	}
	for _, check := range checks {
		if check.holds(u) {
			return current(object{u}, check.State), true
		}
	}
	return "", false
}

func (c StateCheck) holds(u *unstructured.Unstructured) (holds bool) {
	path, err := c.parse()
	if err != nil {
		return false
	}
	defer func() {
		if recover() != nil { // the library assumes that objects are well-formed
			holds = false
		}
	}()
	results, err := path.FindResults(u.Object)
	if err != nil {
		return false
	}
	values := 0
	for _, result := range results {
		for _, value := range result {
			text, ok := scalar(value)
			if !ok || text != c.Value {
				return false
			}
			values++
		}
	}
	return values > 0
}

// parse reads the path, and refuses anything that may take long on an untrusted object: ".." and unions multiply the results.
func (c StateCheck) parse() (path *jsonpath.JSONPath, err error) {
	if strings.TrimSpace(c.JSONPath) == "" {
		return nil, errors.New("the JSONPath of a state check is empty; name a field, such as .status.phase")
	}
	if len(c.JSONPath) > maxPath {
		return nil, fmt.Errorf("the JSONPath of a state check has %d bytes, more than %d", len(c.JSONPath), maxPath)
	}
	defer func() {
		if problem := recover(); problem != nil {
			path, err = nil, fmt.Errorf("%q is not a valid JSONPath", c.JSONPath)
		}
	}()
	text := braced(c.JSONPath)
	parsed, err := jsonpath.Parse("", text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a valid JSONPath: %w", c.JSONPath, err)
	}
	if refused := unsupported(parsed.Root); refused != "" {
		return nil, fmt.Errorf("the JSONPath %q of a state check has %s; name one field by its path, such as .status.phase", c.JSONPath, refused)
	}
	path = jsonpath.New("").AllowMissingKeys(true)
	return path, path.Parse(text)
}

// braced expands the short forms.
func braced(path string) string {
	path = strings.TrimSpace(path)
	if strings.HasPrefix(path, "{") {
		return path
	}
	path = strings.TrimPrefix(path, "$")
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return "{" + path + "}"
}

// unsupported names the first part of a path that is not supported here.
func unsupported(root *jsonpath.ListNode) string {
	if len(root.Nodes) != 1 || root.Nodes[0].Type() != jsonpath.NodeList {
		return "text, or several paths"
	}
	return unsupportedIn(root)
}

func unsupportedIn(list *jsonpath.ListNode) string {
	for _, node := range list.Nodes {
		refused := ""
		switch node := node.(type) {
		case *jsonpath.ListNode:
			refused = unsupportedIn(node)
		case *jsonpath.FilterNode:
			refused = unsupportedIn(node.Left)
			if refused == "" {
				refused = unsupportedIn(node.Right)
			}
		case *jsonpath.RecursiveNode:
			refused = `".."`
		case *jsonpath.UnionNode:
			refused = "a union"
		case *jsonpath.IdentifierNode:
			refused = "a range, or something that JSONPath does not have"
		}
		if refused != "" {
			return refused
		}
	}
	return ""
}

// scalar returns the text of a string, a number or a boolean.
func scalar(value reflect.Value) (text string, ok bool) {
	if !value.IsValid() || !value.CanInterface() {
		return "", false
	}
	switch value := value.Interface().(type) {
	case string:
		return value, true
	case bool:
		return strconv.FormatBool(value), true
	case int64:
		return strconv.FormatInt(value, 10), true
	case int:
		return strconv.Itoa(value), true
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	}
	return "", false
}
