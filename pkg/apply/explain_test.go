package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const password = "s3cr3t-Passw0rd!"

// holder returns an object of a kind that holds the password.
func holder(kind string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "b"},
		"spec": map[string]any{"password": password, "name": "visible", "port": int64(54321)},
	}}
}

func TestExplain_AKindThatIsNotServed(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "g.example.com", Version: "v1", Kind: "Thing"}
	for name, c := range map[string]struct {
		served []string
		want   string
	}{
		"in no version":                  {nil, "; install its CustomResourceDefinition first"},
		"in others only":                 {[]string{"v2", "v3"}, "; use version v2 or v3"},
		"in that one, by its definition": {[]string{"v1"}, " yet: its CustomResourceDefinition has that version and is still taking effect"},
		"in that one among others":       {[]string{"v2", "v1"}, " yet: its CustomResourceDefinition has that version and is still taking effect"},
	} {
		t.Run(name, func(t *testing.T) {
			err := &UnknownKindError{GroupVersionKind: kind, Served: c.served}
			if want := "the cluster does not serve kind Thing of g.example.com/v1" + c.want; err.Error() != want {
				t.Errorf("says %q, want %q", err, want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	spec := field.NewPath("spec", "password")
	for _, test := range []struct {
		name, kind string
		err        error
		want       string
	}{
		{"an invalid value is not repeated", "Thing", invalid(field.Invalid(spec, password, "must be longer")),
			"the API server refused it: spec.password: Invalid value: must be longer"},
		{"nor a structured one", "Thing", invalid(field.Invalid(spec, map[string]string{"a": password}, "must be a string")),
			"the API server refused it: spec.password: Invalid value: must be a string"},
		{"nor where the explanation quotes it", "Thing", invalid(field.Invalid(spec, 1, "must not be "+password)),
			"the API server refused it: spec.password: Invalid value: must not be […]"},
		{"allowed values are repeated", "Thing", invalid(field.NotSupported(spec, password, []string{"A", "B"})),
			`the API server refused it: spec.password: Unsupported value: supported values: "A", "B"`},
		{"every field once", "Thing",
			invalid(field.Required(spec, "name it"), field.Required(spec, "name it"), field.Forbidden(spec.Child("x"), "")),
			"the API server refused it: spec.password: Required value: name it; spec.password.x: Forbidden"},
		{"a rule of a CustomResourceDefinition is repeated", "Thing",
			status(422, metav1.StatusReasonInvalid, "x", metav1.StatusCause{Field: "<nil>", Message: "Invalid value: more replicas than allowed"}),
			"the API server refused it: Invalid value: more replicas than allowed"},
		{"for a Secret, only the fault", "Secret", invalid(field.Invalid(spec, password, "must not be "+password)),
			"the API server refused it: spec.password: FieldValueInvalid"},
		{"for a Secret, that a field is immutable", "Secret", invalid(field.Invalid(spec, password, "field is immutable")),
			"the API server refused it: spec.password: field is immutable; keep the field as it was, or delete the object so that it is recreated"},
		{"names stay", "Thing", status(403, "Forbidden", `admission webhook "w.io" denied the request: visible has `+password),
			`admission webhook "w.io" denied the request: visible has […]; change the content, or the policy that denies it`},
		{"numbers are hidden", "Thing", status(400, "BadRequest", "port 54321 is taken"), "port […] is taken"},
		{"for a Secret, only the webhook's name", "Secret", status(403, "Forbidden", `admission webhook "w.io" denied the request: `+password),
			`the API server refused it: admission webhook "w.io" denied the request (the rest is withheld because it may quote the object); ` +
				`change the content, or the policy that denies it`},
		{"for a Secret, only the quota", "Secret", apierrors.NewForbidden(secrets, "a", errors.New("exceeded quota: q, used: secrets=1")),
			`secrets "a" is forbidden: exceeded quota: q, used: secrets=1; raise the quota, or free what it counts`},
		{"for a ConfigMap, only what is known to be safe", "ConfigMap", status(400, "BadRequest", "no "+password),
			"the API server refused it; its text is withheld because it may quote the object"},
		{"server-side apply shows a value without quotes", "Thing",
			status(500, "", "failed to create typed patch object (b/a; v1, Kind=Thing): .spec: expected map, got &{"+password+"}"),
			"failed to create typed patch object (b/a; v1, Kind=Thing): .spec: expected map, got […]"},
		{"for a Secret, the field that does not fit", "Secret",
			status(500, "", "failed to create typed patch object (b/a; v1, Kind=Secret): .data.k: expected string, got &{"+password+"}"),
			"the API server refused it: .data.k: expected string (the rest is withheld because it may quote the object)"},
		{"a missing permission is not content", "Secret", apierrors.NewForbidden(secrets, "a", errors.New(`User "x" cannot create`)),
			`secrets "a" is forbidden: User "x" cannot create`},
		{"a page of a proxy is not repeated", "Thing", bare(502), "the answer was HTTP 502 (Bad Gateway) and not from Kubernetes"},
		{"a response that cannot be read", "Secret", errors.New("Object 'Kind' is missing in '" + password + "'"),
			"the answer could not be used; its text is withheld because it may quote the object"},
		{"a response that cannot be read, for another kind", "Thing", errors.New("Object 'Kind' is missing in '" + password + "'"),
			"Object 'Kind' is missing in '[…]'"},
		{"no answer", "Thing", sent(errors.New("connection refused")), "the API server did not answer: connection refused"},
		{"a wait without a request", "Thing", errors.New("client rate limiter Wait returned an error: x"),
			"client rate limiter Wait returned an error: x"},
		{"lines become one", "Thing", status(400, "BadRequest", "one\n\ttwo"), "one two"},
	} {
		t.Run(test.name, func(t *testing.T) {
			obj := holder(test.kind)
			if got := explain(test.err, inventory.IDOf(obj), obj); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestExplainIsBounded(t *testing.T) {
	obj := holder("Thing")
	id := inventory.IDOf(obj)
	long := explain(status(400, "BadRequest", strings.Repeat("ü", 5000)), id, obj)
	if len(long) > maxReason || !strings.HasSuffix(long, "ü…") {
		t.Errorf("%d bytes, ending in %q", len(long), long[len(long)-4:])
	}
	longer := strings.Repeat("x ", maxAnswer) + password
	if got := explain(status(400, "BadRequest", longer), id, obj); got != "the answer is too long to be repeated" {
		t.Errorf("got %.100s", got)
	}
}

func TestErrorsSayHowLongToWait(t *testing.T) {
	r := &run{}
	outcome := r.failed(inventory.ID{Kind: "Thing", Name: "a"}, "create", apierrors.NewTooManyRequests("slow down", 7))
	var told *Error
	if !errors.As(outcome.Err, &told) || told.RetryAfter != 7*time.Second || outcome.Class != ClassThrottled {
		t.Errorf("got %+v", outcome)
	}
}

func TestExplainSpeaksForCallsOfOthers(t *testing.T) {
	obj := holder("Thing")
	told := Explain("list", inventory.IDOf(obj), apierrors.NewTooManyRequests("slow down, "+password, 7), obj)
	want := &Error{ID: inventory.IDOf(obj), Class: ClassThrottled, RetryAfter: 7 * time.Second, Message: "list Thing b/a: slow down, […]"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	again := Explain("check", inventory.IDOf(obj), fmt.Errorf("wrapped: %w", told))
	if again.Class != told.Class || again.RetryAfter != told.RetryAfter {
		t.Errorf("got %+v", again)
	}
}

func TestErrorsWrapNothing(t *testing.T) {
	r := &run{}
	outcome := r.failed(inventory.ID{Kind: "Secret", Name: "a"}, "create", apierrors.NewBadRequest(password), holder("Secret"))
	for err := outcome.Err; err != nil; err = errors.Unwrap(err) {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(format, err); strings.Contains(text, password) {
				t.Errorf("%s prints %s", format, text)
			}
		}
	}
}

// FuzzWithoutValue composes field errors as the API server does and looks for the value in the result.
func FuzzWithoutValue(f *testing.F) {
	for _, seed := range []string{password, `"quoted": yes`, "a: b: c", "{json: no}", "[1, 2]", "true", "12345", "ü\x00\n", "&{x}", "<a>&b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		const wrong = "is wrong"
		for _, err := range []*field.Error{
			field.Invalid(nil, value, wrong), field.Duplicate(nil, value), field.NotFound(nil, value),
			field.Invalid(nil, []string{value}, wrong), field.Invalid(nil, map[string]string{value: value}, wrong),
			field.NotSupported(nil, value, []string{"A"}), field.TooMany(nil, len(value), 1),
		} {
			left := withoutValue(err.ErrorBody())
			switch left {
			case "Invalid value: is wrong", "Duplicate value", "Not found", `Unsupported value: supported values: "A"`,
				"Too many: must have at most 1 item", "Too many: must have at most 1 items":
			default:
				t.Errorf("of %q is left %q", err.ErrorBody(), left)
			}
		}
	})
}

// FuzzRedacted prints a value in the ways that programs print values and looks for it in the result.
func FuzzRedacted(f *testing.F) {
	for _, seed := range []string{password, "two\nlines that are long", `back\slash"quote`, "<html>&amp;", "1234"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		value = strings.TrimSpace(value)
		frame := "denied: […] text"
		if len(value) < fielddiff.MinValue || strings.Contains(frame, value) {
			return
		}
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": []any{map[string]any{"x": value}}}}
		for _, format := range []string{"denied: %s", "denied: %q text", `{"x":%q}`, "denied: '%[1]s' %[1]s"} {
			text := fmt.Sprintf(format, value)
			if left := redacted(text, []*unstructured.Unstructured{obj}); strings.Contains(left, value) {
				t.Errorf("%q leaves %q", text, left)
			}
		}
	})
}
