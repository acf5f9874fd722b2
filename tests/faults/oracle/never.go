package oracle

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// never checks the manager's writes since the Scenario began, as far as they reached a server, against the never-list:
//
//  1. Nothing is written to a runtime that is not the Kyma's.
//  2. No collection is deleted, and on the hub only Manifests and inventories are deleted.
//  3. Every object that is put into the runtime was published under that version, unchanged, or is one of the hub's own objects there.
//  4. No object and no Manifest gets a lower version than it had, unless a user takes it back to that version.
//  5. Nothing of a version that waits for consent is written before a person agreed to it.
//  6. On the hub, templates and access Secrets are only read; of a release only its annotations are written, and of a ModuleRollout all but
//     its spec.
//  7. Nothing is written to a runtime that another hub has.
func never(s *operation.Scenario) []string {
	var problems []string
	versions := map[string]*semver.Version{}
	for _, server := range s.Rig.Servers() {
		for _, call := range server.Proxy.Since(s.Since[server.Proxy.Name()]) {
			if !call.Mutating || call.Heartbeat() || call.Upstream == 0 || call.Upstream >= 400 {
				continue
			}
			var problem string
			switch server {
			case s.Other:
				problem = "this runtime is not the Kyma's"
			case s.Rig.Hub:
				problem = onHub(call)
			default:
				problem = atHome(s, call)
				if s.Foreign.Has(call.N) {
					problem = "another hub has the runtime"
				}
			}
			if problem == "" {
				problem = lower(versions, call, s.Back)
			}
			if problem == "" {
				problem = early(s, call)
			}
			if problem != "" {
				problems = append(problems, fmt.Sprintf("%s, call %d: %s: %s", call.Server, call.N, call, problem))
			}
		}
	}
	return problems
}

func onHub(call proxy.Call) string {
	switch {
	case call.Verb == "deletecollection":
		return "a whole collection is deleted"
	case call.Verb == "delete" && call.UID == "":
		return "deleted without saying which one by its UID"
	case call.Resource == "kymas" && call.Verb != "delete" && call.Verb != "create", call.Resource == "manifests":
		return ""
	case call.Resource == "modulerollouts" && (call.Verb == "update" || call.Verb == "patch"): // its status, and the finalizer
		return ""
	case call.Resource == "modulereleasemetas" && call.Verb == "update": // the mark; what else it holds is compared at the end
		return ""
	case call.Resource == "secrets" && (call.Verb == "create" || call.Verb == "delete"): // an inventory that does not fit
		return ""
	}
	return "this is not the manager's to write"
}

// atHome checks a write to the runtime: names that contain the Scenario's ID belong to modules, or to entries of the catalog.
func atHome(s *operation.Scenario, call proxy.Call) string {
	switch {
	case call.Verb == "deletecollection":
		return "a whole collection is deleted"
	case call.Resource == "moduletemplates", call.Resource == "modulereleasemetas", call.Resource == "kymas":
		if call.Namespace != v1beta2.RuntimeNamespace {
			return "the hub keeps such objects in another namespace"
		}
		return ""
	case strings.HasSuffix(call.Name, "."+v1beta2.GroupVersion.Group), call.Resource == "namespaces" && call.Name == v1beta2.RuntimeNamespace:
		return ""
	case !strings.Contains(call.Name, s.ID) && !strings.Contains(call.Resource, s.ID):
		return "no module has such an object"
	case call.Verb == "create" || call.Apply():
		return published(s, call)
	}
	return ""
}

// published returns how an object that is put into the runtime differs from everything published under its name.
func published(s *operation.Scenario, call proxy.Call) string {
	sent := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(call.Body, &sent.Object); err != nil || sent.Object == nil {
		return "no one can read what was written" // no object of a Scenario is longer than the log keeps
	}
	if sent.Object["spec"] == nil && sent.Object["data"] == nil && sent.Object["rules"] == nil && call.Apply() {
		return "" // gives up fields
	}
	version := sent.GetLabels()[testkit.VersionLabel]
	for module, contents := range s.Contents {
		for v, content := range contents {
			for _, object := range append(slices.Clone(content.Objects), content.DefaultCR) {
				if object == nil || object.GetName() != sent.GetName() || object.GetKind() != sent.GetKind() || v != version {
					continue
				}
				if difference := contained(object.Object, sent.Object); difference != "" {
					return fmt.Sprintf("is not what module %s has in version %s: %s", module, v, difference)
				}
				return ""
			}
		}
	}
	return fmt.Sprintf("no module has such an object in version %q", version)
}

// contained returns a field of wanted that differs in got, or a field outside the metadata that only got has.
func contained(wanted, got map[string]any) string {
	for key, value := range wanted {
		if key == "metadata" {
			continue
		}
		if a, b := canonical(value), canonical(got[key]); !bytes.Equal(a, b) {
			return fmt.Sprintf("%s is %s, not %s", key, b, a)
		}
	}
	for key := range got {
		if _, known := wanted[key]; !known && key != "metadata" && key != "status" {
			return key + " was added"
		}
	}
	return ""
}

func canonical(value any) []byte {
	data, err := yaml.Marshal(value)
	if err != nil {
		return []byte(err.Error())
	}
	return data
}

// lower reports an object that had a higher version before, and not one that a user wants to have again.
func lower(versions map[string]*semver.Version, call proxy.Call, back string) string {
	if call.Verb == "delete" {
		delete(versions, call.Server+" "+call.Resource+" "+call.Namespace+"/"+call.Name)
		return ""
	}
	text := versionIn(call)
	version, err := semver.NewVersion(text)
	if err != nil {
		return ""
	}
	key := call.Server + " " + call.Resource + " " + call.Namespace + "/" + call.Name
	before := versions[key]
	if before != nil && version.LessThan(before) && text != back {
		return fmt.Sprintf("version %s, which was %s before", version, before)
	}
	versions[key] = version
	return ""
}

// versionIn returns the version of an object or a Manifest that a call writes, empty where it has none.
func versionIn(call proxy.Call) string {
	sent := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(call.Body, &sent.Object); err != nil || sent.Object == nil || call.Subresource != "" {
		return ""
	}
	if call.Resource == "manifests" {
		version, _, _ := unstructured.NestedString(sent.Object, "spec", "version")
		return version
	}
	return sent.GetLabels()[testkit.VersionLabel]
}

// early reports something of a version that was written before a person agreed to it.
func early(s *operation.Scenario, call proxy.Call) string {
	if s.Held == "" || versionIn(call) != s.Held {
		return ""
	}
	if last, agreed := s.Agreed[call.Server]; agreed && call.N > last {
		return ""
	}
	return "version " + s.Held + " was written before a person agreed to it"
}
