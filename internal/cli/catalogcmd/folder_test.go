package catalogcmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

func TestLint(t *testing.T) {
	s := open(t)
	s.says(1, "catalog lint", "no folder modules")
	s.says(4, "catalog lint nowhere", "nowhere")
	s.says(64, "catalog lint --rule beauty", "there is no rule beauty", "file-name")
	s.folderWith("1.0.0")
	s.says(0, "catalog lint -o wide", "warning", "modules/notes/notes-1.0.0.yaml", "digest", "spec.manager")
	s.says(1, "catalog lint --strict")
	s.says(0, "catalog lint --rule version --strict", "The catalog is in order.")
	s.write("modules/notes/notes-1.0.1.yaml", template("1.0.2"))
	text := s.says(1, "catalog lint -o json", "FindingList")
	var listed findings
	if err := json.Unmarshal([]byte(text), &listed); err != nil || listed.Errors != 1 || listed.Items[0].Rule == "" {
		t.Errorf("%v %+v", err, listed)
	}
	s.says(1, "catalog lint -o sarif", `"ruleId": "file-name"`)
}

func TestLintFollowsLinksOnlyWhereItMay(t *testing.T) {
	s := open(t)
	s.write("www/notes.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: notes}\n")
	url := s.served("www")
	s.write("modules/notes/notes-1.0.0.yaml", template("1.0.0", "https://example.com/notes/1.0.0/notes.yaml", url+"/notes.yaml"))
	s.says(1, "catalog lint --links --ca-file ca.pem --rule content", "private address")
	s.says(0, "catalog lint --links --ca-file ca.pem --rule content --allow-private-catalogs", "in order")
	s.says(0, "catalog lint --links --ca-file ca.pem --rule digest --allow-private-catalogs", "sha256:")
}

func TestBuild(t *testing.T) {
	s := open(t)
	s.folderWith("1.0.0", "1.1.0")
	s.says(1, "catalog build --to dist --check", "dist/all-modules.yaml, dist/all-modules.json", "without --check")
	if _, err := os.Stat("dist"); err == nil {
		t.Error("--check has written something")
	}
	s.says(0, "catalog build --to dist --source https://example.com/all-modules.yaml --updated 2026-01-31", "written", "sha256:")
	first := s.read("dist/all-modules.yaml")
	s.says(0, "catalog build --to dist --source https://example.com/all-modules.yaml --updated 2026-01-31", "unchanged")
	s.says(1, "catalog build --to dist --check", "not what the folder gives")
	t.Setenv("SOURCE_DATE_EPOCH", "1769817600")
	s.says(0, "catalog build --to dist --source https://example.com/all-modules.yaml --check -o name", "dist/all-modules.json\n")
	found, err := communitycatalog.Parse([]byte(first))
	if err != nil || found.Templates[0].Annotations["lastUpdated"] != "2026-01-31T00:00:00Z" {
		t.Errorf("%v %+v", err, found)
	}
	s.says(64, "catalog build --updated tomorrow", "--updated=tomorrow")
	s.says(64, "catalog build --check --push oci://example.com/x:1", "exclude each other")
	s.says(64, "catalog build --to dist --source https://me:secret@example.com/", "login")
	s.write("modules/notes/notes-1.2.0.yaml", template("1.0.0"))
	s.says(1, "catalog build --to dist", "has 2 errors", "file-name", "duplicate")
	if s.read("dist/all-modules.yaml") != first {
		t.Error("a folder with errors was published")
	}
}

func TestBuildAndPush(t *testing.T) {
	s := open(t)
	s.folderWith("1.0.0")
	host := s.registry()
	line := "catalog build --to dist --ca-file ca.pem --allow-private-catalogs --push oci://" + host + "/catalog:latest -o json"
	var first, again outputs
	if err := json.Unmarshal([]byte(s.says(0, line)), &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(s.says(0, line)), &again); err != nil {
		t.Fatal(err)
	}
	pushed := first.Items[len(first.Items)-1]
	if pushed.Action != "pushed" || pushed.Digest != again.Items[len(again.Items)-1].Digest {
		t.Errorf("%+v, and then %+v", first, again)
	}
	s.says(0, "catalog source test --ca-file ca.pem --allow-private-catalogs --digest "+pushed.Digest+" oci://"+host+"/catalog:latest", "notes", "1.0.0")
}

func TestExport(t *testing.T) {
	s, c, namespace := onCluster(t)
	s.says(4, "catalog export out -n "+namespace, "no ModuleTemplate")
	found, err := communitycatalog.Parse([]byte(template("1.0.0")))
	if err != nil {
		t.Fatal(err)
	}
	made := found.Templates[0]
	made.Namespace, made.Labels[v1beta2.LabelManagedBy] = namespace, v1beta2.ManagedByKyma
	if err := c.Create(t.Context(), &made); err != nil {
		t.Fatal(err)
	}
	s.says(0, "catalog export out -n "+namespace, "out/modules/notes/notes-1.0.0.yaml", "written")
	s.says(0, "catalog export out -n "+namespace, "unchanged")
	s.says(0, "catalog lint out --rule file-name --rule label", "in order")
	s.write("out/modules/notes/notes-1.0.0.yaml", "mine\n")
	s.says(1, "catalog export out -n "+namespace, "is there with other content", "--overwrite")
	if s.read("out/modules/notes/notes-1.0.0.yaml") != "mine\n" {
		t.Error("a file was replaced")
	}
	s.says(0, "catalog export out --overwrite -n "+namespace, "replaced")
	s.says(4, "catalog export out --module beacon -n "+namespace, "no ModuleTemplate")
	if strings.Contains(s.read("out/modules/notes/notes-1.0.0.yaml"), "managed-by") {
		t.Error("what was exported says who managed it")
	}
}
