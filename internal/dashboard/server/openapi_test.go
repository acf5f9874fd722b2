package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/history"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/resourcetree"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// shape is the part of a schema that the test compares.
type shape struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	Items      *shape            `json:"items"`
	OneOf      []*shape          `json:"oneOf"`
	// Discriminator tells the kinds of a oneOf apart.
	Discriminator any      `json:"discriminator"`
	AllOf         []*shape `json:"allOf"`
}

type apiDocument struct {
	OpenAPI    string                                `json:"openapi"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]*shape `json:"schemas"`
	} `json:"components"`
}

func documented(t *testing.T) apiDocument {
	t.Helper()
	text, err := documentJSON()
	if err != nil {
		t.Fatal(err)
	}
	var doc apiDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPI_TheDocumentHasEveryRouteAndNoOther(t *testing.T) {
	server, err := New(Options{Mode: ModeCluster, Config: &rest.Config{Host: "https://127.0.0.1:1"}, OIDC: &OIDC{Issuer: "https://x"}})
	if err != nil {
		t.Fatal(err)
	}
	doc := documented(t)
	var said []string
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "parameters" {
				said = append(said, strings.ToUpper(method)+" "+path)
			}
		}
	}
	routes := slices.Clone(server.patterns)
	slices.Sort(said)
	slices.Sort(routes)
	for _, route := range routes {
		if !slices.Contains(said, route) {
			t.Errorf("%s is not in openapi.yaml", route)
		}
	}
	for _, route := range said {
		if !slices.Contains(routes, route) {
			t.Errorf("openapi.yaml has %s, which there is not", route)
		}
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("it is OpenAPI %s", doc.OpenAPI)
	}
}

// documentedTypes are the types of answers and bodies, by the name of their schema.
var documentedTypes = map[string]any{
	"Session": sessionAnswer{}, "Unread": Unread{}, "Overview": overview{}, "KymaLine": modulestatus.KymaLine{}, "KymaList": List[kymaRow]{},
	"KymaDetail": kymaDetail{}, "KymaSpec": kymaSpec{}, "Module": modulestatus.Module{}, "ModuleList": List[moduleRow]{},
	"KymaRow": kymaRow{}, "ModuleRow": moduleRow{}, "FleetCause": modulestatus.TroubleGroup{}, "FleetCauseList": List[modulestatus.TroubleGroup]{},
	"Filters": filterChoices{}, "FleetCounts": fleetCounts{},
	"ModuleDetail":   moduleDetail{},
	"ModuleResource": moduleResource{}, "OfferedResource": offeredResource{}, "Vouched": modulestatus.Provenance{}, "Node": modulestatus.Node{}, "Offer": modulestatus.Offer{}, "OfferVersion": modulestatus.OfferVersion{}, "Event": Event{},
	"Rollout": rollouts.Rollout{}, "RolloutList": rolloutList{}, "RolloutDetail": rolloutDetail{}, "RolloutChannel": rollouts.Channel{},
	"RolloutWave": rollouts.Wave{}, "DeedAct": deedAct{}, "Revision": revisionLine{},
	"Review": versionReview{}, "Forecast": forecast{}, "Needs": needs{}, "Need": needLine{}, "Consent": moduleConsent{}, "Strategy": moduleStrategy{},
	"Finding": permissions.Finding{}, "Changes": releasepreview.Changes{}, "OutcomeGroup": releasepreview.Group{}, "Unreadable": unreadable{},
	"FleetModule": modulestatus.FleetModule{}, "FleetList": fleetList{},
	"ReleaseLine": releaseLine{}, "ReleaseList": releaseList{}, "Settings": settings{},
	"Operation": operations.Operation{}, "Preview": operations.Preview{},
	"Deed": operations.Request{}, "Error": errorBody{}, "Why": Why{}, "Ref": modulestatus.Ref{}, "Key": modulestatus.Key{},
	"Result": result{}, "Attention": attention{}, "Cause": modulestatus.Cause{}, "Fact": modulestatus.Fact{},
	"Source": communitycatalog.Source{}, "NewSource": sourceBody{}, "SourceTest": operations.Tested{},
	"SourceList": List[communitycatalog.Source]{}, "OfferList": catalogList{}, "OfferRow": offerRow{}, "SourceLine": sourceLine{}, "EventList": List[Event]{},
	"OperationList": List[operations.Operation]{}, "Fix": fixAct{}, "NewKyma": newKyma{}, "History": historyList{}, "HistoryEntry": history.Entry{},
	"ObjectTree": objectTree{}, "ObjectNode": resourcetree.Node{}, "ObjectDetail": objectDetail{}, "WantedObject": wantedObject{},
	"LogMessage": logMessage{},
}

func TestOpenAPI_TheDocumentHasEveryField(t *testing.T) {
	doc := documented(t)
	for name, value := range documentedTypes {
		at := doc.Components.Schemas[name]
		if at == nil {
			t.Errorf("there is no schema %s", name)
			continue
		}
		compare(t, doc, name, at, reflect.TypeOf(value), 0)
	}
}

// compare checks that a type and its schema have the same fields, as deep as the schema goes.
func compare(t *testing.T, doc apiDocument, where string, at *shape, is reflect.Type, depth int) {
	t.Helper()
	if at != nil && at.nullable() && len(at.OneOf) > 0 {
		at = at.OneOf[0]
	}
	at = doc.resolved(at)
	for is.Kind() == reflect.Pointer || is.Kind() == reflect.Slice {
		if is.Kind() == reflect.Slice && at != nil {
			at = doc.resolved(at.Items)
		}
		is = is.Elem()
	}
	if oneKind := strings.HasSuffix(where, ".deed") && where != "DeedAct.deed"; oneKind {
		return // the schema names the kind of deed that the button stands for; all kinds together are compared once
	}
	if is.Kind() != reflect.Struct || at == nil || len(at.Properties) == 0 || depth > 4 {
		return
	}
	fields := fieldsOf(is)
	for name, field := range fields {
		if at.Properties[name] == nil {
			t.Errorf("%s: the schema has no %q", where, name)
			continue
		}
		if always := !omitted(field); !requestBody.MatchString(where) {
			if always != slices.Contains(at.Required, name) {
				t.Errorf("%s.%s: it is always sent: %t; the schema requires it: %t", where, name, always, !always)
			}
			if always && nilable(field.Type) && !at.Properties[name].nullable() {
				t.Errorf("%s.%s: it can be null, and the schema does not say so", where, name)
			}
		}
		compare(t, doc, where+"."+name, at.Properties[name], field.Type, depth+1)
	}
	for name := range at.Properties {
		if _, there := fields[name]; !there {
			t.Errorf("%s: the schema has %q, which answers do not", where, name)
		}
	}
}

// resolved follows a reference, and joins the properties of a schema that consists of others or is one of them.
func (doc *apiDocument) resolved(at *shape) *shape {
	if at != nil && at.Ref != "" {
		at = doc.Components.Schemas[at.Ref[strings.LastIndexByte(at.Ref, '/')+1:]]
	}
	if at == nil || len(at.AllOf)+len(at.OneOf) == 0 {
		return at
	}
	joined := &shape{Properties: map[string]*shape{}}
	for _, part := range slices.Concat(at.AllOf, at.OneOf) {
		part := doc.resolved(part)
		maps.Copy(joined.Properties, part.Properties)
		joined.Required = append(joined.Required, part.Required...)
	}
	return joined
}

// requestBody finds what is sent to the server: which fields it must have depends on its kind, and its validation decides.
var requestBody = regexp.MustCompile(`^NewSource|^Deed(\.|$)|\.deed(\.|$)`)

// omitted says whether a field is left out when it is empty.
func omitted(field reflect.StructField) bool {
	_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

// nilable says whether JSON can have null for a type. Maps are left out: counts are always made.
func nilable(is reflect.Type) bool {
	return is.Kind() == reflect.Slice || is.Kind() == reflect.Pointer || is == reflect.TypeFor[metav1.Time]()
}

// nullable says whether null fits a schema. Without a type everything does.
func (s *shape) nullable() bool {
	if s.Type == nil && len(s.OneOf) == 0 {
		return s.Ref == ""
	}
	types, _ := s.Type.([]any)
	return slices.Contains(types, any("null")) || slices.ContainsFunc(s.OneOf, func(one *shape) bool { return one.Type == "null" })
}

// fieldsOf returns the fields of a struct by the names that JSON gives them.
func fieldsOf(is reflect.Type) map[string]reflect.StructField {
	found := map[string]reflect.StructField{}
	for field := range is.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-", !field.IsExported():
		case field.Anonymous && name == "":
			maps.Copy(found, fieldsOf(field.Type))
		default:
			found[name] = field
		}
	}
	return found
}

func TestOpenAPI_EveryAnswerIsComparedWithItsType(t *testing.T) {
	answers := regexp.MustCompile(`"application/json":\{"schema":\{"\$ref":"#/components/schemas/(\w+)"`)
	for path, methods := range documented(t).Paths {
		for method, operation := range methods {
			for _, found := range answers.FindAllSubmatch(operation, -1) {
				if _, there := documentedTypes[string(found[1])]; !there {
					t.Errorf("%s %s: documentedTypes has no %s", method, path, found[1])
				}
			}
		}
	}
}

func TestOpenAPI_TheDocumentIsServed(t *testing.T) {
	r := served(t, Options{Mode: ModeLocal}, ask(http.MethodGet, "/api/v1/openapi.json", "127.0.0.1:8080"))
	defer r.Body.Close()
	var doc apiDocument
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil || len(doc.Paths) < 20 {
		t.Errorf("status %d, %d paths: %v", r.StatusCode, len(doc.Paths), err)
	}
}
