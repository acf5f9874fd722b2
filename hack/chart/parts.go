package main

import (
	"fmt"
	"path"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	// base is the name of the part that is always on: config/default.
	base           = "default"
	managerObject  = "Deployment kcp-system/klm-controller-manager"
	definitionKind = "CustomResourceDefinition"
)

// components are those of config/components that values of the chart switch on, in the order in which the chart adds them.
var components = []string{"local", "all-namespaces", "maintenance-windows", "signatures", "approvals", "content", "webhook", "dashboard"}

// part is what config/default consists of, or what a component brings.
type part struct {
	definitions, objects []*unstructured.Unstructured
	// manager has what is appended to the lists of the manager's pod, by their names.
	manager map[string]any
}

// partFiles returns the files of all parts by their paths in the chart.
func partFiles(root string) (map[string][]byte, error) {
	before, err := compose(root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	first, err := difference(nil, before)
	if err != nil {
		return nil, err
	}
	if err := first.write(files, base, "config/default"); err != nil {
		return nil, err
	}
	for _, component := range components {
		after, err := compose(root, component)
		if err != nil {
			return nil, err
		}
		brings, err := difference(before, after)
		if err != nil {
			return nil, fmt.Errorf("config/components/%s: %w", component, err)
		}
		if err := brings.write(files, component, "config/components/"+component); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// difference returns what is in the second list and not in the first, or not like that.
func difference(before, after []*unstructured.Unstructured) (part, error) {
	known := map[string]*unstructured.Unstructured{}
	for _, object := range before {
		known[nameOf(object)] = object
	}
	var p part
	for _, object := range after {
		was := known[nameOf(object)]
		switch {
		case was != nil && reflect.DeepEqual(was.Object, object.Object):
		case was != nil && nameOf(object) == managerObject:
			added, err := appended(was, object)
			if err != nil {
				return part{}, err
			}
			p.manager = added
		case object.GetKind() == definitionKind:
			p.definitions = append(p.definitions, object)
		default:
			p.objects = append(p.objects, object)
		}
	}
	return p, nil
}

// appended returns what one Deployment has at the end of the lists of its pod that the other one lacks. It refuses any other difference,
// which the chart could not tell from what values change.
func appended(before, after *unstructured.Unstructured) (map[string]any, error) {
	rest := after.DeepCopy()
	was, err := listsOf(before)
	if err != nil {
		return nil, err
	}
	is, err := listsOf(rest)
	if err != nil {
		return nil, err
	}
	added := map[string]any{}
	for name, holder := range is {
		old, _ := was[name][name].([]any)
		list, _ := holder[name].([]any)
		if len(list) <= len(old) {
			continue
		}
		added[name] = list[len(old):]
		if holder[name] = list[:len(old)]; len(old) == 0 {
			delete(holder, name)
		}
	}
	if !reflect.DeepEqual(rest.Object, before.Object) {
		return nil, fmt.Errorf("changes %s otherwise than by appending to args, env, ports, volumeMounts or volumes: "+
			"the chart cannot say that, so teach it to templates/_pods.tpl and hack/chart", managerObject)
	}
	return added, nil
}

// listsOf returns the map that holds each list of a Deployment's pod, by the name of the list.
func listsOf(deployment *unstructured.Unstructured) (map[string]map[string]any, error) {
	pod, _, err := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template", "spec")
	if err != nil {
		return nil, err
	}
	spec, _ := pod.(map[string]any)
	containers, _ := spec["containers"].([]any)
	if len(containers) == 0 {
		return nil, fmt.Errorf("%s has no container", nameOf(deployment))
	}
	container, ok := containers[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the first container of %s is no object", nameOf(deployment))
	}
	return map[string]map[string]any{
		"args": container, "env": container, "ports": container, "volumeMounts": container, "volumes": spec,
	}, nil
}

// write adds the files of a part; what it does not have gets none.
func (p part) write(files map[string][]byte, folder, origin string) error {
	objects, err := encode(p.objects)
	if err != nil {
		return err
	}
	definitions, err := encode(p.definitions)
	if err != nil {
		return err
	}
	var manager []byte
	if len(p.manager) > 0 {
		if manager, err = yaml.Marshal(p.manager); err != nil {
			return err
		}
	}
	for name, text := range map[string][]byte{"objects.yaml": objects, "crds.yaml": definitions, "manager.yaml": manager} {
		if len(text) > 0 {
			header := "# Written by make chart from " + origin + ".\n"
			files[path.Join(partsFolder, folder, name)] = append([]byte(header), text...)
		}
	}
	return nil
}
