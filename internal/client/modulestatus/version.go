package modulestatus

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// labelVersion is the recommended label with the version of an application.
const labelVersion = "app.kubernetes.io/version"

// differ reports whether two versions are known and different: 1.0.0 is not 11.0.0, and v1.0.0 is 1.0.0.
func differ(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	left, leftErr := semver.NewVersion(a)
	right, rightErr := semver.NewVersion(b)
	return leftErr != nil || rightErr != nil || left.Original() != right.Original() && left.String() != right.String()
}

// finish fills in the fields that follow from the versions.
func (v Version) finish() Version {
	if !differ(v.Running, v.Installed) {
		v.Running = ""
	}
	v.Outdated = moduleversion.IsLower(v.Installed, v.Available)
	v.Mismatch = differ(v.Desired, v.Installed)
	return v
}

// offered returns the templates of a module that count for a direct installation, the newest first; none if that is ambiguous.
func (r *reader) offered(name string, choice Choice) []*v1beta2.ModuleTemplate {
	var namespaces []string
	for _, template := range r.versions[name] {
		namespaces = append(namespaces, template.Namespace)
	}
	namespace, err := choice.Among(name, distinct(namespaces))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.versions[name]), func(t *v1beta2.ModuleTemplate) bool { return t.Namespace != namespace })
}

// newest returns the newest version of templates, which are sorted with the newest first. Prereleases count if they are requested, or if
// the installed version is one.
func (r *reader) newest(templates []*v1beta2.ModuleTemplate, installed string) string {
	before, err := semver.NewVersion(installed)
	early := r.Prereleases || err == nil && before.Prerelease() != ""
	for _, template := range templates {
		version, err := semver.NewVersion(template.ModuleVersion())
		if err == nil && (early || version.Prerelease() == "") && template.DeletionTimestamp.IsZero() {
			return template.ModuleVersion()
		}
	}
	return ""
}

// managerVersion returns the version of the object that runs a module's operator: that of its label, or else the tag of its image. A tag
// that is no version, and a digest, are ignored.
func managerVersion(manager *unstructured.Unstructured) string {
	if manager == nil {
		return ""
	}
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
		labels, _, _ := unstructured.NestedStringMap(manager.Object, path...)
		if version := asVersion(labels[labelVersion]); version != "" {
			return version
		}
	}
	containers, _, _ := unstructured.NestedSlice(manager.Object, "spec", "template", "spec", "containers")
	var first string
	for _, c := range containers {
		container, _ := c.(map[string]any)
		image, _ := container["image"].(string)
		name, _ := container["name"].(string)
		version := asVersion(Tag(image))
		if strings.Contains(name, "manager") && version != "" {
			return version
		}
		first = cmp.Or(first, version)
	}
	return first
}

// Tag returns the tag of an image reference, without mistaking a registry's port or a digest for one.
func Tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	last := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, _ := strings.Cut(last, ":")
	return tag
}

// asVersion returns a text without a leading v if it is a full version, else "".
func asVersion(text string) string {
	text = strings.TrimPrefix(text, "v")
	if _, err := semver.StrictNewVersion(text); err != nil {
		return ""
	}
	return text
}

// manager returns the object that runs a module's operator, if it was read. known reports whether its existence is known: nil and known
// means that it does not exist.
func (r *reader) manager(m *v1beta2.Manager) (object *unstructured.Unstructured, known bool) {
	if m == nil || m.Kind == "" {
		return nil, false
	}
	if o := r.objects[objectKey{m.Group, m.Kind, m.Namespace, m.Name}]; o != nil {
		return o, true
	}
	kind := groupKind(m.Group, m.Kind)
	return nil, r.unread(kind, m.Namespace) == nil && r.isListed(kind, m.Namespace)
}
