package hostile

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// fieldRow lists what a user can do with one field.
type fieldRow[T any] struct {
	// attacks are ways to run or create something that no signature covers.
	attacks []func(T)
	// says is part of the resulting message of the Manifest.
	says string
	// vain are changes without an effect on the installed content.
	vain []func(T)
	// harmless explains why the field cannot run or create anything that is not signed.
	harmless string
}

func attacks[T any](says string, all ...func(T)) fieldRow[T] {
	return fieldRow[T]{attacks: all, says: says}
}

func (r fieldRow[T]) inVain(all ...func(T)) fieldRow[T] {
	r.vain = all
	return r
}

func harmless[T any](why string) fieldRow[T] { return fieldRow[T]{harmless: why} }

// source changes one key of the first installation's source.
func source(key string, value any) func(*sealed) {
	return func(s *sealed) {
		fields := map[string]any{}
		Expect(json.Unmarshal(s.manifest.Spec.Install.Source.Raw, &fields)).To(Succeed())
		fields[key] = value
		s.manifest.Spec.Install.Source = testkit.Raw(fields)
	}
}

// evilLayer returns a layer of an unsigned component.
func evilLayer(s *sealed) v1beta2.ImageSpec {
	name := testkit.ComponentName(testkit.Unique("tried"))
	return env.Publish(name, "1.0.0", testkit.RawManifest([]byte(evilMap(s.module)))).Source
}

func evilBinding(s *sealed) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": evil + "-" + s.module},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": evil}},
	}}
}

const notCovered = "no signature that is trusted covers"

// manifestRows covers all fields of a Manifest's spec, and the metadata that is read. TestEveryFieldHasARow compares them with the types.
var manifestRows = map[string]fieldRow[*sealed]{
	"metadata.annotations.ocm-component-name": attacks(notCovered,
		func(s *sealed) { delete(s.manifest.Annotations, v1beta2.AnnotationOCMComponentName) },
		func(s *sealed) { s.manifest.Annotations[v1beta2.AnnotationOCMComponentName] = "x\ny" },
		func(s *sealed) {
			s.manifest.Annotations[v1beta2.AnnotationOCMComponentName] = testkit.ComponentName("tried-" + s.module)
		},
		func(s *sealed) {
			s.manifest.Annotations[v1beta2.AnnotationOCMComponentName] = testkit.ComponentName("other-" + s.module)
		},
		func(s *sealed) {
			s.manifest.Annotations[v1beta2.AnnotationOCMComponentName] += "\n" + testkit.ComponentName("tried-x")
		},
	),
	"metadata.labels.module-name": harmless[*sealed]("names the release of a chart, whose templates are signed"),
	"metadata.labels.kyma-name":   harmless[*sealed]("says which runtime the signed content goes to"),
	"remote":                      harmless[*sealed]("says which cluster the signed content goes to; --local-namespaces bounds that"),
	"customResourcePolicy":        harmless[*sealed]("says whether the signed default custom resource is created"),
	"version": attacks(notCovered,
		func(s *sealed) { s.manifest.Spec.Version = "" },
		func(s *sealed) { s.manifest.Spec.Version = "2.0.0" },
		func(s *sealed) { s.manifest.Spec.Version = "../1.0.0" },
	),
	"config.": attacks("spec.config: "+notCovered, func(s *sealed) {
		layer := evilLayer(s)
		s.manifest.Spec.Config = &layer
	}),
	"crds.": attacks("spec.crds: "+notCovered,
		func(s *sealed) {
			layer := evilLayer(s)
			s.manifest.Spec.CRDs = &layer
		},
		func(s *sealed) { // signed, but for something else
			layer := v1beta2.ImageSpec{}
			Expect(json.Unmarshal(s.manifest.Spec.Install.Source.Raw, &layer)).To(Succeed())
			s.manifest.Spec.CRDs = &layer
		},
	),
	"install.name": harmless[*sealed]("names the release of a chart, which is held to the resource, and nothing else"),
	"install.source": attacks(notCovered,
		func(s *sealed) { s.manifest.Spec.Install.Source = testkit.Raw(evilLayer(s)) },
		func(s *sealed) { // signed, but not for installation
			source("ref", digestOf(s.customResource))(s)
		},
		func(s *sealed) {
			digest := env.PushImage("private/"+s.module, "v1", testkit.Files{"manifests/a.yaml": evilMap(s.module)})
			s.manifest.Spec.Install.Source = testkit.Raw(map[string]any{"image": env.Registry.Host + "/private/" + s.module + "@" + digest})
		},
		func(s *sealed) {
			env.Hub.Create(configMapOf(s.module, evilMap(s.module)))
			s.manifest.Spec.Install.Source = testkit.Raw(map[string]any{"configMaps": []any{map[string]any{"name": s.module}}, "type": "oci-ref"})
		},
	),
	"install.source.type":               attacks("", source("type", "oci-dir"), source("type", "kustomize"), source("type", "bundle")),
	"install.source.path":               attacks(`path "manifests"`, source("path", "manifests")),
	"install.source.credSecretSelector": harmless[*sealed]("finds a login; what it lets in is compared with the digest"),
	"resource": attacks("spec.resource: "+notCovered,
		func(s *sealed) { s.manifest.Spec.Resource = evilBinding(s) },
		func(s *sealed) {
			Expect(unstructured.SetNestedField(s.manifest.Spec.Resource.Object, "example.com/evil:1", "spec", "image")).To(Succeed())
		},
		func(s *sealed) { s.manifest.Spec.Resource.SetName(evil + "-" + s.module) },
		func(s *sealed) { s.manifest.Spec.Resource.SetNamespace("kube-system") },
	),
	"localizedImages": attacks(notCovered,
		func(s *sealed) { s.manifest.Spec.LocalizedImages = nil },
		func(s *sealed) {
			s.manifest.Spec.LocalizedImages = []string{"example.com/operator:1.0.0@" + evilDigest}
		},
		func(s *sealed) { s.manifest.Spec.LocalizedImages = []string{"example.com/operator:1.0.0"} },
		func(s *sealed) {
			s.manifest.Spec.LocalizedImages = []string{"example.com/operator:1.0.0@" + sidecarDigest}
		},
		func(s *sealed) {
			s.manifest.Spec.LocalizedImages = append(s.manifest.Spec.LocalizedImages, "example.com/pinned:1.0.0@"+evilDigest)
		},
	),
	"manager.": attacks("spec.manager: "+notCovered, func(s *sealed) {
		s.manifest.Spec.Manager = &v1beta2.Manager{
			GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "elsewhere", Namespace: "kube-system",
		}
	}),
	"associatedResources.": harmless[*sealed]("keep a Manifest from being deleted while objects of them exist, and write nothing"),
	"additionalInstalls.": attacks(notCovered,
		func(s *sealed) {
			s.manifest.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: "more", Source: testkit.Raw(evilLayer(s))}}
		},
		func(s *sealed) {
			s.manifest.Spec.AdditionalInstalls = []v1beta2.InstallInfo{{Name: "operator", Source: testkit.Raw(evilLayer(s))}}
		},
	),
	"targetNamespace": attacks("spec.targetNamespace: "+notCovered, func(s *sealed) { s.manifest.Spec.TargetNamespace = "kube-system" }),
	"values":          attacks("spec.values: "+notCovered, func(s *sealed) { s.manifest.Spec.Values = &runtime.RawExtension{Raw: []byte(`{"image":"evil"}`)} }),
	"kymaValues.": attacks("spec.kymaValues: "+notCovered,
		func(s *sealed) { s.manifest.Spec.KymaValues = &v1beta2.EntryValues{Inline: `{"image":"evil"}`} },
		func(s *sealed) {
			s.manifest.Spec.KymaValues = &v1beta2.EntryValues{From: []v1beta2.HashedValues{{
				ValuesReference: v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: "evil"}, Hash: "sha256:" + strings.Repeat("0", 64),
			}}}
		},
	),
	"ownership":          harmless[*sealed]("says whether signed content takes over what is there"),
	"probes.":            harmless[*sealed]("are further conditions of readiness, and write nothing"),
	"allowCRDChanges":    attacks("spec.allowCRDChanges: "+notCovered, func(s *sealed) { s.manifest.Spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} }),
	"customStateCheck.":  harmless[*sealed]("tells a state by the default custom resource, and writes nothing"),
	"serviceAccountName": harmless[*sealed]("says with whose rights the signed content is installed"),
}

// templateRows covers all fields of a ModuleTemplate's spec.
var templateRows = map[string]fieldRow[*sealed]{
	"channel":           harmless[*sealed]("is ignored"),
	"version":           harmless[*sealed]("names the component version, which is verified under that name"),
	"moduleName":        harmless[*sealed]("names the module; its component is named by the release"),
	"mandatory":         harmless[*sealed]("says who gets the signed content"),
	"descriptor":        harmless[*sealed]("is ignored by the manager; direct installations verify what it leads to"),
	"customStateCheck.": harmless[*sealed]("tells a state by the default custom resource, and writes nothing"),
	"resources.":        harmless[*sealed]("are links for people; direct installations refuse them under enforce"),
	"info.":             harmless[*sealed]("is for people"),
	"data": attacks("spec.resource: "+notCovered,
		func(s *sealed) { s.template.Spec.Data = evilBinding(s) },
		func(s *sealed) {
			Expect(unstructured.SetNestedField(s.template.Spec.Data.Object, "evil", "spec", "image")).To(Succeed())
		},
	),
	"associatedResources.": harmless[*sealed]("keep a module from being deleted while they exist, and write nothing"),
	"manager.": attacks("spec.manager: "+notCovered, func(s *sealed) {
		s.template.Spec.Manager = &v1beta2.Manager{
			GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "elsewhere",
		}
	}),
	"requires.":          harmless[*sealed]("says what must be there before the signed content is installed"),
	"requiresDowntime":   harmless[*sealed]("says when the signed content is installed"),
	"rollbackTo":         harmless[*sealed]("lets a version be installed again that was installed before, and is verified again"),
	"readiness":          harmless[*sealed]("says what counts as ready, and writes nothing"),
	"serviceAccountName": harmless[*sealed]("says with whose rights the signed content is installed"),
	"allowCRDChanges": attacks("spec.allowCRDChanges: "+notCovered, func(s *sealed) {
		s.template.Spec.AllowCRDChanges = []v1beta2.CRDRule{"ScopeChanged", "FieldRemoved"}
	}),
}

// resourceNamed returns a resource of a descriptor.
func resourceNamed(doc map[string]any, name string) map[string]any {
	for _, r := range doc["component"].(map[string]any)["resources"].([]any) {
		if r := r.(map[string]any); r["name"] == name {
			return r
		}
	}
	panic("no resource " + name)
}

// set changes a field of a resource, below the keys in path.
func set(resource string, value any, path ...string) func(map[string]any) {
	return func(doc map[string]any) {
		if err := unstructured.SetNestedField(resourceNamed(doc, resource), value, path...); err != nil {
			panic(err)
		}
	}
}

func evilLayerDigest(doc map[string]any) string {
	name := doc["component"].(map[string]any)["name"].(string)
	return digestOf(evilMap(name[strings.LastIndex(name, "/")+1:]))
}

// descriptorRows covers all fields of a descriptor that are read, changed after signing.
var descriptorRows = map[string]fieldRow[map[string]any]{
	"Name": attacks("", func(doc map[string]any) {
		doc["component"].(map[string]any)["name"] = testkit.ComponentName("tried-other")
	}),
	"Version":  attacks("", func(doc map[string]any) { doc["component"].(map[string]any)["version"] = "2.0.0" }),
	"Provider": attacks("changed after it was signed", func(doc map[string]any) { doc["component"].(map[string]any)["provider"] = evil }),
	"Schema":   harmless[map[string]any]("the same is signed in both schemas, and one that is changed reads as no component"),
	"Labels.":  attacks("changed after it was signed", func(doc map[string]any) { addLabel(doc["component"].(map[string]any), true) }),
	"Resources.": attacks("changed after it was signed",
		func(doc map[string]any) { // one more
			component := doc["component"].(map[string]any)
			component["resources"] = append(component["resources"].([]any), map[string]any{
				"name": "more", "type": "helmChart", "version": "1.0.0", "relation": "local",
				"access": map[string]any{"type": "localBlob", "localReference": evilLayerDigest(doc), "mediaType": "application/x-tar"},
				"digest": map[string]any{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "genericBlobDigest/v1",
					"value": strings.TrimPrefix(evilLayerDigest(doc), "sha256:")},
			})
		},
		func(doc map[string]any) { // one less
			component := doc["component"].(map[string]any)
			component["resources"] = component["resources"].([]any)[:3]
		}),
	"Resources.Name":     attacks("", set("sidecar", "crds", "name")),
	"Resources.Version":  attacks("changed after it was signed", set("operator", "2.0.0", "version")),
	"Resources.Type":     attacks("changed after it was signed", set("operator", "blob", "type"), set("raw-manifest", "helmChart", "type")),
	"Resources.Relation": attacks("changed after it was signed", set("raw-manifest", "external", "relation")),
	"Resources.Labels.": attacks("is not signed", func(doc map[string]any) {
		addLabel(resourceNamed(doc, "raw-manifest"), false)
	}),
	"Resources.Access.Type": attacks(notCovered,
		set("operator", "gitHub", "access", "type"),
		set("operator", "s3", "access", "type"),
		set("operator", "NONE", "access", "type"),
		set("operator", "none", "access", "type"),
		set("raw-manifest", "localOciBlob", "access", "type"),
	).inVain(set("operator", "ociRegistry", "access", "type"), set("operator", "ociArtifact/v1", "access", "type")),
	"Resources.Access.LocalReference": attacks("points to", func(doc map[string]any) {
		set("raw-manifest", any(evilLayerDigest(doc)), "access", "localReference")(doc)
	}, func(doc map[string]any) {
		set("default-cr", any(evilLayerDigest(doc)), "access", "localReference")(doc)
	}, func(doc map[string]any) {
		set("moduletemplate", any(evilLayerDigest(doc)), "access", "localReference")(doc)
	}),
	"Resources.Access.MediaType":     attacks("write \"oci-dir\"", set("raw-manifest", "application/x-tar", "access", "mediaType")),
	"Resources.Access.ReferenceName": harmless[map[string]any]("says under which name a blob would be published"),
	"Resources.Access.ImageReference": attacks(notCovered,
		set("operator", "", "access", "imageReference"),
		set("operator", "example.com/sidecar:1.0.0", "access", "imageReference"),
	).inVain(set("sidecar", "example.com/operator:1.0.0", "access", "imageReference")),
	"Resources.Access.ImageReference.": attacks("was signed",
		set("operator", "example.com/operator:1.0.0@"+evilDigest, "access", "imageReference")),
	"Resources.Digest.HashAlgorithm":          attacks("changed after it was signed", set("raw-manifest", "SHA-512", "digest", "hashAlgorithm")),
	"Resources.Digest.NormalisationAlgorithm": attacks("changed after it was signed", set("operator", "none", "digest", "normalisationAlgorithm")),
	"Resources.Digest.Value": attacks("changed after it was signed",
		set("raw-manifest", strings.Repeat("e", 64), "digest", "value"), set("operator", strings.Repeat("e", 64), "digest", "value")),
	"Repository":     harmless[map[string]any]("is where it was read, and does not stand in it"),
	"RepositoryName": harmless[map[string]any]("is where it was read, and does not stand in it"),
	"Digest":         harmless[map[string]any]("is that of the manifest, and does not stand in it"),
	"Signatures.Name": attacks("has no signature named", func(doc map[string]any) {
		doc["signatures"].([]any)[0].(map[string]any)["name"] = evil
	}, func(doc map[string]any) { delete(doc, "signatures") }),
	"Signatures.Digest.": attacks("has signature", func(doc map[string]any) {
		doc["signatures"].([]any)[0].(map[string]any)["digest"].(map[string]any)["value"] = strings.Repeat("e", 64)
	}, func(doc map[string]any) {
		doc["signatures"].([]any)[0].(map[string]any)["digest"].(map[string]any)["normalisationAlgorithm"] = "none"
	}),
	"Signatures.Signature.": attacks("has signature", func(doc map[string]any) {
		doc["signatures"].([]any)[0].(map[string]any)["signature"].(map[string]any)["value"] = "00"
	}, func(doc map[string]any) {
		doc["signatures"].([]any)[0].(map[string]any)["signature"].(map[string]any)["algorithm"] = "none"
	}),
}

func addLabel(to map[string]any, signing bool) {
	labels, _ := to["labels"].([]any)
	label := map[string]any{"name": v1beta2.LabelRenderer, "value": "kustomize"}
	if signing {
		label["signing"] = true
	}
	to["labels"] = append(labels, label)
}
