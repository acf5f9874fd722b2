package authorcmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kyma-project/lifecycle-manager/internal/client/airgap"
	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
)

// finish writes what is used afterwards, and says how.
func (a *author) finish(m *mirroring, items []mirrored) (*mirrorInstallation, error) {
	if m.how.DryRun {
		return nil, nil
	}
	if m.target.Layout != nil {
		if len(m.objects) > 0 {
			if err := ctf.WriteFile(filepath.Join(m.directory, carriedModules), m.objects); err != nil {
				return nil, err
			}
		}
		if notCopied(items) > 0 {
			return nil, nil
		}
		a.console.Sayf("Carry %s over, and there: kyma mirror --from dir:%s --to oci://HOST[/PATH]", m.directory, m.directory)
		return nil, nil
	}
	found := &mirrorInstallation{Registry: m.target.Registry.Host, SubPath: m.target.Registry.SubPath}
	if m.target.Registry.PlainHTTP {
		found.Registry = "http://" + found.Registry
	}
	if err := m.writeResults(found, items); err != nil {
		return nil, err
	}
	a.sayInstallation(found)
	return found, nil
}

// writeResults writes install.yaml, if the manager's image is there, and modules.yaml.
func (m *mirroring) writeResults(found *mirrorInstallation, items []mirrored) error {
	files := map[string][]byte{}
	if len(m.objects) > 0 {
		files[carriedModules] = m.objects
	}
	for i := range items {
		item := &items[i]
		if item.Kind != kindImage || item.Name != airgap.ManagerImage || item.Outcome != bulk.Done && item.Outcome != bulk.Unchanged {
			continue
		}
		text, err := m.folder.Installation()
		if err != nil {
			return fmt.Errorf("read the installation of the release: %w", err)
		}
		if files["install.yaml"], err = airgap.Rewrite(text, item.Ref, found.Registry, found.SubPath); err != nil {
			return err
		}
		found.Image = item.Ref
	}
	if len(files) == 0 {
		return nil
	}
	if err := os.MkdirAll(m.results, ctf.DirMode); err != nil {
		return err
	}
	for _, name := range []string{"install.yaml", carriedModules} {
		if text, ok := files[name]; ok {
			file := filepath.Join(m.results, name)
			if err := ctf.WriteFile(file, text); err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
			found.Files = append(found.Files, file)
		}
	}
	return nil
}

// sayInstallation says what to call next.
func (a *author) sayInstallation(found *mirrorInstallation) {
	for _, file := range found.Files {
		a.console.Sayf("%s is written.", file)
	}
	path := ""
	if found.SubPath != "" {
		path = " --manager-arg=--modules-repository-subpath=" + found.SubPath
	}
	if found.Image != "" {
		a.console.Sayf("To install: kyma install --registry %s%s --image %s", found.Registry, path, found.Image)
	}
}
