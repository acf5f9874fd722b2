package managerinstall

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/config"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// Namespace is where the manager runs.
	Namespace = "kcp-system"
	// deployment is the name of the manager's Deployment and ServiceAccount.
	deployment = "klm-controller-manager"
	// Image is the name of the manager's image, without a registry: package config has it as a placeholder.
	Image = "lifecycle-manager"
	// defaultTag is the tag of the image without another one.
	defaultTag = "dev"
	root       = "/config"
)

// The parts that can be added to an installation.
const (
	// PartContent serves the content that Manifests were made of.
	PartContent = "content"
	// PartWebhook serves v1alpha1.
	PartWebhook = "webhook"
)

// Parts lists all parts.
var Parts = []string{PartContent, PartWebhook}

// Options describe the installation.
type Options struct {
	// SingleCluster is for a cluster that is both hub and runtime; otherwise it is a hub, and modules go into other clusters.
	SingleCluster bool
	// Image is the manager's image with or without a tag or digest; Version is its tag where it has none.
	Image, Version string
	// DefaultImage, without a tag, and DefaultTag take the place of an Image and a tag that are not given; of what was built for development
	// they are empty, and the image is lifecycle-manager:dev.
	DefaultImage, DefaultTag string
	// Registry has the modules' components: host[:port], with http:// in front if it has no TLS.
	Registry string
	// Parts to add: see the constants.
	Parts []string
	// Arguments are passed to the manager unchanged.
	Arguments []string
}

// building serialises builds: kustomize keeps its schemas in package variables.
var building sync.Mutex

var imagePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)

// Check returns the problems of the options.
func (o Options) Check() error {
	var problems []error
	if o.Image != "" && !imagePattern.MatchString(o.Image) {
		problems = append(problems, fmt.Errorf("image %q is no reference: write host/repository:tag", o.Image))
	}
	if o.Registry != "" && !descriptor.IsAddress(o.Registry) {
		problems = append(problems, fmt.Errorf(
			"registry %q is no host: write host[:port], with http:// in front where it speaks no TLS", o.Registry))
	}
	if name, tag, digest := o.reference(); o.Version != "" && (tag != o.Version && tag != "" || digest != "") {
		problems = append(problems, fmt.Errorf(
			"image %s%s conflicts with version %s: specify only one of them", name, cmp.Or(digest, ":"+tag), o.Version))
	}
	for _, part := range o.Parts {
		if !slices.Contains(Parts, part) {
			problems = append(problems, fmt.Errorf("there is no part %q: there are %s", part, strings.Join(Parts, " and ")))
		}
	}
	return errors.Join(problems...)
}

// reference splits the image reference.
func (o Options) reference() (name, tag, digest string) {
	name, digest, _ = strings.Cut(cmp.Or(o.Image, o.DefaultImage, Image), "@")
	if slash, colon := strings.LastIndex(name, "/"), strings.LastIndex(name, ":"); colon > slash {
		name, tag = name[:colon], name[colon+1:]
	}
	return name, tag, digest
}

// Reference returns the image that the manager will run.
func (o Options) Reference() string {
	name, tag, digest := o.reference()
	if digest != "" {
		return name + "@" + digest
	}
	return name + ":" + cmp.Or(tag, o.Version, o.DefaultTag, defaultTag)
}

// Export returns the installation as YAML.
func Export(o Options) ([]byte, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	building.Lock()
	defer building.Unlock()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, root+"/overlay")
	if err != nil {
		return nil, fmt.Errorf("cannot build the installation: %w", err)
	}
	return built.AsYaml()
}

// Render returns the objects of the installation.
func Render(o Options) ([]*unstructured.Unstructured, error) {
	text, err := Export(o)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(document))
		if err == nil {
			err = object.UnmarshalJSON(data)
		}
		if err != nil {
			return nil, fmt.Errorf("the rendered output is not a Kubernetes object: %w", err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// files returns the files of package config in memory, with an overlay for the options.
func (o Options) files() (filesys.FileSystem, error) {
	files := filesys.MakeFsInMemory()
	err := fs.WalkDir(config.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(config.Files, name)
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join(root, name), data)
	})
	if err != nil {
		return nil, err
	}
	overlay, err := o.overlay()
	if err != nil {
		return nil, err
	}
	return files, files.WriteFile(root+"/overlay/kustomization.yaml", overlay)
}

// overlay returns a kustomization on top of those of package config.
func (o Options) overlay() ([]byte, error) {
	base := "../default"
	if o.SingleCluster {
		base = "../local"
	}
	name, tag, digest := o.reference()
	picture := map[string]string{"name": Image, "newName": name}
	if digest != "" {
		picture["digest"] = digest
	} else {
		picture["newTag"] = cmp.Or(tag, o.Version, o.DefaultTag, defaultTag)
	}
	overlay := map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
		"resources": []string{base}, "images": []any{picture},
	}
	var components []string
	for _, part := range o.Parts {
		components = append(components, "../components/"+part)
	}
	if len(components) > 0 {
		overlay["components"] = components
	}
	arguments := slices.Clone(o.Arguments)
	if o.Registry != "" {
		arguments = append(arguments, "--oci-registry-host="+o.Registry)
	}
	if len(arguments) > 0 {
		patch, err := addArguments(arguments)
		if err != nil {
			return nil, err
		}
		overlay["patches"] = []any{map[string]any{"target": map[string]string{"kind": "Deployment", "name": deployment}, "patch": patch}}
	}
	return yaml.Marshal(overlay)
}

// addArguments returns a JSON patch that adds arguments to the manager's container.
func addArguments(arguments []string) (string, error) {
	var operations []map[string]string
	for _, argument := range arguments {
		operations = append(operations, map[string]string{
			"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": argument,
		})
	}
	data, err := json.Marshal(operations)
	return string(data), err
}
