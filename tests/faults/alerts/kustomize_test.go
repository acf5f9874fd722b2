package alerts

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// built returns the objects of config/monitoring by kind and name, with another address of the runbooks where one is given.
func built(t *testing.T, address string) map[string]string {
	t.Helper()
	files, tree := filesys.MakeFsInMemory(), os.DirFS(root)
	err := fs.WalkDir(tree, "config", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		text := string(data)
		if address != "" && file == "config/monitoring/runbooks.yaml" {
			before, _, _ := strings.Cut(text, "address: ")
			text = before + "address: " + address + "\n"
		}
		return files.WriteFile(path.Join("/", file), []byte(text))
	})
	if err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/config/monitoring")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]string{}
	for _, resource := range resources.Resources() {
		objects[resource.GetKind()+" "+resource.GetName()] = resource.MustYaml()
	}
	return objects
}

func TestMonitoring_DeploysMonitorRulesAndDashboards(t *testing.T) {
	objects := built(t, "")
	for _, name := range []string{"ServiceMonitor klm-controller-manager", "PrometheusRule klm-alerts", "ConfigMap klm-dashboards"} {
		if objects[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	if objects["ConfigMap klm-runbooks"] != "" {
		t.Error("the address of the runbooks is deployed, too")
	}
	service := objects["Service klm-controller-manager-metrics"]
	for _, wanted := range []string{
		"app.kubernetes.io/name: lifecycle-manager", "app.kubernetes.io/component: manager", "name: metrics\n", "name: " + job + "\n",
	} {
		if !strings.Contains(service, wanted) {
			t.Errorf("the Service of the metrics does not have %q, which the monitor selects:\n%s", wanted, service)
		}
	}
}

func TestMonitoring_RunbooksMoveWithTheirAddress(t *testing.T) {
	const address = "https://wiki.example.com/runbooks"
	before, after := built(t, "")["PrometheusRule klm-alerts"], built(t, address)["PrometheusRule klm-alerts"]
	for _, alert := range deployed(t).Alerts {
		if url := "runbook_url: " + alert.Annotations["runbook_url"] + "\n"; !strings.Contains(before, url) {
			t.Errorf("%s does not lead to the address of this repository", alert.Name)
		}
		if url := "runbook_url: " + address + "#" + strings.ToLower(alert.Name) + "\n"; !strings.Contains(after, url) {
			t.Errorf("%s does not follow the address", alert.Name)
		}
	}
}
