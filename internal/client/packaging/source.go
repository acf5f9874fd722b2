package packaging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// RuleReadable is the rule of findings about files that cannot be read.
const RuleReadable = "readable"

// Source is a module, as read from its directory.
type Source struct {
	// Config is the configuration of the module.
	Config *moduleconfig.Config
	// ManifestFile is the manifest's file, folder or link, for messages.
	ManifestFile string
	// Manifest is the text of a plain manifest. For a chart, a kustomization or a bundle it is nil, and Tree has the files.
	Manifest []byte
	Tree     *content.Tree
	// folder reports whether the manifest is a folder and not an archive.
	folder bool
	// Format is how the manifest is rendered: helm-chart, kustomize or bundle; empty for plain YAML.
	Format string
	// Values are the values for a chart, in addition to its own; nil when the configuration names none.
	Values map[string]any
	// layer is a resource config from outside of the module.
	layer *helm.Config
	// DefaultCR is the text of the default custom resource, nil when there is none.
	DefaultCR     []byte
	DefaultCRFile string
}

// Load reads a module: its configuration and the files that this names. Problems with them are returned as findings; if there is an error
// among the findings, the module is nil. The error is for a configuration that cannot be read at all.
func Load(ctx context.Context, configFile string, fetcher *Fetcher) (*Source, []diagnostics.Finding, error) {
	if info, err := os.Stat(configFile); err == nil && info.IsDir() {
		configFile = filepath.Join(configFile, ConfigFile)
	}
	text, err := userfile.Read(ctx, configFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read the module's configuration: %w", err)
	}
	config, findings := moduleconfig.Parse(configFile, text)
	if config == nil || diagnostics.Failed(findings) {
		return nil, findings, nil
	}
	source := &Source{Config: config}
	reader := reader{dir: filepath.Dir(configFile), fetcher: fetcher, config: config}
	if err := reader.manifest(ctx, source); err != nil {
		findings = append(findings, reader.finding("manifest", err))
	}
	if (config.Values != "" || config.InlineValues != nil) && !diagnostics.Failed(findings) {
		if err := reader.values(ctx, source); err != nil {
			findings = append(findings, reader.finding("values", err))
		}
	}
	if config.DefaultCR != "" {
		source.DefaultCRFile = reader.place(config.DefaultCR)
		if source.DefaultCR, err = reader.file(ctx, config.DefaultCR); err != nil {
			findings = append(findings, reader.finding("defaultCR", err))
		}
	}
	if diagnostics.Failed(findings) {
		return nil, findings, nil
	}
	return source, findings, nil
}

// Lint checks the module by its files.
func (s *Source) Lint(ctx context.Context, options modulelint.Options) ([]diagnostics.Finding, error) {
	module := modulelint.Module{
		Config: s.Config, Manifest: s.Manifest, ManifestFile: s.ManifestFile,
		DefaultCR: s.DefaultCR, DefaultCRFile: s.DefaultCRFile,
	}
	how, err := s.installation()
	if err != nil {
		return nil, err
	}
	module.Namespace, module.Chart = how.Namespace, s.Format == formatChart
	if s.Tree != nil {
		objects, err := s.Objects(ctx)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", s.ManifestFile, err)
		}
		module.Objects = objects
	}
	return modulelint.Lint(module, options), nil
}

// reader reads the files and links that a configuration names.
type reader struct {
	dir     string
	fetcher *Fetcher
	config  *moduleconfig.Config
}

// place returns the name of a file or link of the configuration in messages.
func (r *reader) place(location string) string {
	if moduleconfig.IsURL(location) {
		return location
	}
	return filepath.Join(r.dir, filepath.FromSlash(location))
}

// file reads a file below the configuration's folder, or the target of a link.
func (r *reader) file(ctx context.Context, location string) ([]byte, error) {
	if moduleconfig.IsURL(location) {
		return r.fetcher.Get(ctx, location)
	}
	text, err := userfile.Read(ctx, r.place(location))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", r.place(location))
	}
	return text, err
}

func (r *reader) finding(field string, err error) diagnostics.Finding {
	line, column := r.config.Position(field)
	return diagnostics.Finding{
		Rule: RuleReadable, Severity: diagnostics.Error, File: r.config.File, Line: line, Column: column, Field: field,
		Message: err.Error(), Fix: "name a file or folder beside the configuration, or a https link",
	}
}
