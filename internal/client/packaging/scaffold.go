package packaging

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The names of the files in a module directory.
const (
	ConfigFile    = "module-config.yaml"
	manifestFile  = "manifest.yaml"
	defaultCRFile = "default-cr.yaml"
)

// firstVersion is the version of a new module.
const firstVersion = "0.1.0"

//go:embed skeleton
var skeleton embed.FS

// moduleName is the format that ModuleTemplate.spec.moduleName accepts.
var moduleName = regexp.MustCompile(`^[a-z]{3,}(-[a-z]{3,})*$`)

// maxModuleName leaves room for a version in the name of the ModuleTemplate, and for "-system".
const maxModuleName = 50

// Draft is the description of a new module.
type Draft struct {
	// Name is the OCM component name, such as example.com/module/notes; a name without a domain is put below example.com/module.
	Name string
	// Version of the module; empty means 0.1.0.
	Version string
	// Overwrite replaces the configuration if there is one. Manifest and default CR are never replaced.
	Overwrite bool
}

// ErrExists means that a directory already has a module.
var ErrExists = errors.New("there is a module already")

// Scaffolded is the result of Scaffold: the files that it wrote, and the existing ones that it kept.
type Scaffolded struct {
	Name string
	// Dir is the directory of the module.
	Dir     string
	Written []string
	Kept    []string
	// Notes are sentences about the content for its author.
	Notes []string
}

// filled are the values for the placeholders of the skeleton.
type filled struct{ Name, Version, Module, Kind, Singular, Plural, Group string }

// Scaffold writes a complete module: a kind of its own with a default CR, the permissions of its operator, and a Deployment. It keeps
// existing files, except for a configuration if Overwrite is set; if there is one and Overwrite is not set, it writes nothing. If a file
// cannot be written, for example on a full disk, it removes those that it wrote.
func Scaffold(dir string, draft Draft) (*Scaffolded, error) {
	words, err := draft.words()
	if err != nil {
		return nil, err
	}
	if err := draft.free(dir); err != nil {
		return nil, err
	}
	done := &Scaffolded{Name: words.Name, Dir: dir}
	if err := done.into(dir, func() error { return done.write(dir, words, draft.Overwrite) }); err != nil {
		return nil, err
	}
	return done, nil
}

// free returns an error if the directory has a module that must not be replaced.
func (d Draft) free(dir string) error {
	config := filepath.Join(dir, ConfigFile)
	if _, err := os.Lstat(config); err == nil && !d.Overwrite {
		return fmt.Errorf("%s: %w", config, ErrExists)
	}
	return nil
}

// into calls write with a directory that exists, and removes what it wrote if it fails.
func (s *Scaffolded) into(dir string, write func() error) error {
	_, before := os.Lstat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a directory of sources, as mkdir makes it
		return err
	}
	if err := write(); err != nil {
		return errors.Join(err, s.undo(dir, errors.Is(before, fs.ErrNotExist)))
	}
	return nil
}

// write writes the files; the configuration comes last, since it turns the directory into a module.
func (s *Scaffolded) write(dir string, words filled, overwrite bool) error {
	for _, name := range []string{manifestFile, defaultCRFile, ConfigFile} {
		text, err := words.fill(name)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, name)
		kept, err := create(file, text, name == ConfigFile && overwrite)
		switch {
		case err != nil:
			return err
		case kept:
			s.Kept = append(s.Kept, file)
		default:
			s.Written = append(s.Written, file)
		}
	}
	return nil
}

// undo removes the written files with the directories that are empty then, and the directory if it was created for them.
func (s *Scaffolded) undo(dir string, made bool) (err error) {
	for _, file := range slices.Backward(s.Written) {
		err = errors.Join(err, os.Remove(file))
		removeEmpty(filepath.Dir(file), dir)
	}
	if made {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// removeEmpty removes a directory and those above it, up to dir, as long as they are empty.
func removeEmpty(at, dir string) {
	for at != filepath.Clean(dir) && os.Remove(at) == nil {
		at = filepath.Dir(at)
	}
}

// create writes a file, unless there is one that must be kept. It removes a file that cannot be written completely.
func create(file string, text []byte, overwrite bool) (kept bool, err error) {
	if overwrite {
		_, err := userfile.Replace(file, text)
		return false, err
	}
	opened, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a source file, as editors make it
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	_, err = opened.Write(text)
	if err = errors.Join(err, opened.Close()); err != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return false, err
}

// words returns the values for the skeleton, and validates the name: a module without a valid name cannot be published either.
func (d Draft) words() (filled, error) {
	name := d.Name
	if !strings.Contains(name, "/") {
		name = "example.com/module/" + name
	}
	module := path.Base(name)
	version := cmp.Or(d.Version, firstVersion)
	if !moduleName.MatchString(module) || len(module) > maxModuleName {
		return filled{}, fmt.Errorf("%q is no name for a module: "+
			"use words of at least 3 lower case letters, with - between them, up to %d in all", module, maxModuleName)
	}
	if err := descriptor.CheckIdentity(name, version); err != nil {
		return filled{}, err
	}
	var kind strings.Builder
	for word := range strings.SplitSeq(module, "-") {
		kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	singular := strings.ToLower(kind.String())
	domain, _, _ := strings.Cut(name, "/")
	return filled{
		Name: name, Version: version, Module: module,
		Kind: kind.String(), Singular: singular, Plural: plural(singular), Group: module + "." + domain,
	}, nil
}

// plural returns a plural that need not be correct; the API server accepts any.
func plural(singular string) string {
	switch {
	case strings.HasSuffix(singular, "s"):
		return singular
	case strings.HasSuffix(singular, "x"), strings.HasSuffix(singular, "ch"), strings.HasSuffix(singular, "sh"):
		return singular + "es"
	case strings.HasSuffix(singular, "y"):
		return strings.TrimSuffix(singular, "y") + "ies"
	}
	return singular + "s"
}

func (w filled) fill(name string) ([]byte, error) { return fill(name, w) }

func (w chartWords) fill() ([]byte, error) { return fill(path.Join("chart", ConfigFile), w) }

func fill(name string, words any) ([]byte, error) {
	parsed, err := template.ParseFS(skeleton, path.Join("skeleton", name))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Option("missingkey=error").Execute(&text, words); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
