package apply

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// maxReason bounds, in bytes, how much of a response is repeated: it ends up in a condition's message.
	maxReason = 800
	// maxAnswer bounds the text that is searched for values; a longer response is not repeated at all.
	maxAnswer = 64 << 10
	// maxMark bounds names that others chose.
	maxMark = 160
)

// Explain returns why a call failed; verb is the action on the object. The message repeats no value of quotable: the objects that the
// response may quote, as they were sent and as they were read. err is not nil. Callers use it to report their own calls.
func Explain(verb string, id inventory.ID, err error, quotable ...*unstructured.Unstructured) *Error {
	told := &Error{ID: id, Class: Classify(err), Message: fmt.Sprintf("%s %s: %s", verb, id, explain(err, id, quotable...))}
	told.Webhook = UnansweredWebhook(err)
	if known, ok := errors.AsType[*Error](err); ok {
		told.RetryAfter = known.RetryAfter
	} else if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		told.RetryAfter = time.Duration(seconds) * time.Second
	}
	return told
}

// explain returns why a call failed, in the words of the API server but without a value of the objects: it names fields, not their
// contents. For objects that exist to hold data, even the API server's words are withheld where they may quote them.
func explain(err error, id inventory.ID, objects ...*unstructured.Unstructured) string {
	var known *Error
	var unknownKind *UnknownKindError
	var status apierrors.APIStatus
	var urlError *url.Error
	switch {
	case errors.As(err, &known):
		return known.Message
	case errors.As(err, &unknownKind):
		return unknownKind.Error()
	case errors.As(err, &status):
		return shortened(answer(err, status.Status(), id, objects), maxReason) + hint(Classify(err))
	case errors.As(err, &urlError): // its URL adds nothing to the object's identity
		return "the API server did not answer: " + shortened(redacted(urlError.Err.Error(), objects), maxReason)
	case Classify(err) != ClassInternal:
		return shortened(redacted(err.Error(), objects), maxReason)
	case holdsData(id):
		return "the answer could not be used; its text is withheld because it may quote the object"
	}
	return shortened(redacted(err.Error(), objects), maxReason)
}

// answer returns the part of the API server's response that may be shown.
func answer(err error, status metav1.Status, id inventory.ID, objects []*unstructured.Unstructured) string {
	class := Classify(err)
	switch {
	case class == ClassUnauthorized:
		return "the API server does not accept the credentials"
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && class != ClassKindUnknown:
		return fmt.Sprintf("the answer was HTTP %d (%s) and not from Kubernetes", status.Code, http.StatusText(int(status.Code)))
	case apierrors.IsInvalid(err) && status.Details != nil && len(status.Details.Causes) > 0 && !denied(status.Message):
		texts := causeText(status.Details.Causes, holdsData(id))
		if !holdsData(id) { // otherwise it holds field names only
			texts = redacted(texts, objects)
		}
		return "the API server refused it: " + texts
	case holdsData(id) && aboutContent(class):
		return "the API server refused it" + harmless(status.Message)
	}
	return redacted(withoutQuotes(status.Message), objects)
}

// aboutContent reports whether responses of the class may quote the object.
func aboutContent(class Class) bool {
	switch class {
	case ClassRefused, ClassAdmissionDenied, ClassFieldImmutable, ClassInternal:
		return true
	default:
		return false
	}
}

// hint returns what a user can do, where the class alone determines it.
func hint(class Class) string {
	switch class {
	case ClassKindUnknown:
		return "; install its CustomResourceDefinition first"
	case ClassNamespaceMissing:
		return "; create the namespace or add it to the content"
	case ClassNamespaceTerminating:
		return "; it can be created when the namespace is gone and has been recreated"
	case ClassUnauthorized:
		return "; renew them"
	case ClassAdmissionDenied:
		return "; change the content, or the policy that denies it"
	case ClassQuotaExceeded:
		return "; raise the quota, or free what it counts"
	case ClassFieldImmutable:
		return "; keep the field as it was, or delete the object so that it is recreated"
	default:
		return ""
	}
}

// causeText lists the invalid fields and what is wrong with them; only the kind of fault where details may quote the object.
func causeText(list []metav1.StatusCause, faultOnly bool) string {
	texts := make([]string, 0, len(list))
	for _, cause := range list {
		fault := withoutValue(cause.Message)
		if faultOnly {
			fault = string(cause.Type)
			if immutable(cause.Message) {
				fault = "field is immutable"
			}
		}
		if cause.Field != "" && cause.Field != "<nil>" {
			fault = cause.Field + ": " + fault
		}
		if !slices.Contains(texts, fault) { // some checks run twice
			texts = append(texts, fault)
		}
	}
	return strings.Join(texts, "; ")
}

// holdsData reports whether the kind exists to hold data that others must not see.
func holdsData(id inventory.ID) bool {
	return id.Group == "" && (id.Kind == "Secret" || id.Kind == "ConfigMap")
}

// safe matches the parts of responses that name fields, types or the policy at work, and cannot hold a value. Its patterns repeat classes
// up to 253 times, which makes them large: they are compiled when a response has to be read.
var safe = sync.OnceValue(func() (compiled []*regexp.Regexp) {
	for _, pattern := range []string{
		`admission webhook "[a-zA-Z0-9.-]{1,253}" denied the request`,
		`^Internal error occurred: failed calling webhook "[a-zA-Z0-9.-]{1,253}"`,
		`ValidatingAdmissionPolicy '[a-zA-Z0-9.-]{1,253}' with binding '[a-zA-Z0-9.-]{1,253}' denied request`,
		`unknown field "[\w.\[\]-]{1,253}"`,
		`Request entity too large: limit is \d+`,
		`etcdserver: request is too large`,
		`trying to send message larger than max`,
		`illegal base64 data at input byte \d+`,
		`\.[\w.-]+: (expected \w+|field not declared in schema)`,
		`cannot unmarshal (string|number|bool|array|object) into Go struct field [\w.]+ of type [\w.\[\]]+`,
	} {
		compiled = append(compiled, regexp.MustCompile(pattern))
	}
	return compiled
})

// harmless returns the safe part of a response and notes that there was more.
func harmless(message string) string {
	for _, part := range safe() {
		if match := part.FindString(message); match != "" {
			return ": " + match + " (the rest is withheld because it may quote the object)"
		}
	}
	return "; its text is withheld because it may quote the object"
}

// shortened truncates a text, and turns every run of white space into one blank: a status line has no line breaks.
func shortened(text string, limit int) string {
	return excerpt.Cut(strings.Join(strings.Fields(text), " "), limit)
}
