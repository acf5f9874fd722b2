package permissions

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// analysePlacement reports objects in namespaces that are not the module's own. Its own are those that it brings, and the one that most
// of its workloads run in, or most of its objects when there are none.
func (b *builder) analysePlacement() {
	own := map[string]bool{}
	for _, object := range b.ofKind("", "Namespace") {
		if !strings.HasPrefix(object.GetName(), "kube-") {
			own[object.GetName()] = true
		}
	}
	own[b.home()] = true
	for _, object := range b.objects {
		namespace := object.GetNamespace()
		if namespace == "" || own[namespace] {
			continue
		}
		severity := Low
		if systemNamespace(namespace) {
			severity = Medium
		}
		b.add(Finding{
			Key: joinKey("placement", escapes.Replace(namespace)), Category: CategoryPlacement, Severity: severity,
			Rule:     place(object),
			Sentence: "Writes objects into namespace " + short(namespace) + ", which is not its own.",
		})
	}
}

// home returns the namespace that the module runs in.
func (b *builder) home() string {
	running, placed := map[string]int{}, map[string]int{}
	for i := range b.workloads {
		running[b.workloads[i].namespace]++
	}
	for _, object := range b.objects {
		if namespace := object.GetNamespace(); namespace != "" {
			placed[namespace]++
		}
	}
	if len(running) > 0 {
		return mostFrequent(running)
	}
	return mostFrequent(placed)
}

// mostFrequent returns the namespace with the highest count, of several the first by name. Those of the cluster itself come last: they are
// the home of no module.
func mostFrequent(counts map[string]int) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), systemNamespace)
	if len(names) == 0 {
		return ""
	}
	return slices.MaxFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a)) })
}
