package tracing

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Transport returns a wrapper for transports to a cluster, that of the hub or of runtimes: the requests that a pass sends are spans of it,
// until the head of the answer is there. It must not be called on a nil Traces.
func (t *Traces) Transport(cluster string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return &tracingTransport{cluster: attrCluster.String(cluster), next: next}
	}
}

// tracingTransport records the requests of passes.
type tracingTransport struct {
	cluster attribute.KeyValue
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *tracingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	p := passOf(req.Context())
	if p == nil || strings.Contains(req.URL.RawQuery, "watch=true") {
		return t.next.RoundTrip(req)
	}
	target := targetOf(req)
	span := p.request(target.name(), append(target.attributes(req), t.cluster)...)
	if span == nil {
		return t.next.RoundTrip(req)
	}
	defer span.End()
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		fail(span, classOf(err))
		return resp, err
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(resp.StatusCode))
	// Whether an object is there is mostly asked because it need not be.
	if resp.StatusCode >= http.StatusBadRequest && (resp.StatusCode != http.StatusNotFound || target.verb != "get") {
		fail(span, strconv.Itoa(resp.StatusCode))
	}
	return resp, nil
}

func fail(span trace.Span, class string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(class))
	span.SetStatus(codes.Error, "")
}

// target is what a request is about. It has no names of objects and no namespaces.
type target struct{ method, verb, group, resource, subresource string }

// name is that of the span, which has few values.
func (t *target) name() string {
	switch {
	case t.resource == "":
		return t.method
	case t.group == "":
		return t.method + " " + t.resource
	default:
		return t.method + " " + t.resource + "." + t.group
	}
}

func (t *target) attributes(req *http.Request) []attribute.KeyValue {
	attributes := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(t.method), semconv.ServerAddress(req.URL.Hostname())}
	if port, err := strconv.Atoi(req.URL.Port()); err == nil {
		attributes = append(attributes, semconv.ServerPort(port))
	}
	if t.resource == "" {
		return attributes
	}
	attributes = append(attributes, attrVerb.String(t.verb), attrGroup.String(t.group), attrResource.String(t.resource))
	if t.subresource != "" {
		attributes = append(attributes, attrSubresource.String(t.subresource))
	}
	return attributes
}

// resourcePath finds the last group and version in a path, which the path of a kubeconfig's server comes before: that may hold a token.
var resourcePath = regexp.MustCompile(`^.*/(?:api|apis/([a-z0-9.-]+))/v[0-9]+(?:(?:alpha|beta)[0-9]+)?/(?:namespaces/[^/]+/)?` +
	`([a-z0-9.-]+)(?:/([^/]+))?(?:/([a-z]+))?$`)

// discovery finds requests that are about no resource, whose path would otherwise be read as one below that of some servers.
var discovery = regexp.MustCompile(`/(?:api|apis|version)$`)

// methods are those that a span may be named after: a request has no others.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
}

func targetOf(req *http.Request) *target {
	t := &target{method: req.Method}
	if !methods[t.method] {
		t.method = semconv.HTTPRequestMethodOther.Value.AsString()
	}
	parts := resourcePath.FindStringSubmatch(req.URL.Path)
	if parts == nil || discovery.MatchString(req.URL.Path) {
		return t
	}
	t.group, t.resource, t.subresource = parts[1], parts[2], parts[4]
	t.verb = verbOf(req, parts[3] != "")
	return t
}

// verbOf returns the verb by which Kubernetes authorises a request.
func verbOf(req *http.Request, named bool) string {
	switch req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	default:
		if named {
			return "get"
		}
		return "list"
	}
}
