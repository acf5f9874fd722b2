package communitycatalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Root is the folder with the folders of the modules.
const Root = "modules"

const (
	// maxFiles is how many files a catalog's folder may have.
	maxFiles = 10_000
	// yamlEnd is the extension of a catalog's files.
	yamlEnd = ".yaml"
)

// entry is one file of a catalog's folder, or one object of a fetched catalog.
type entry struct {
	*item

	// file is its path, or the name of the object if there is no file.
	file string
	data []byte
	// loose reports whether there is no file: then names of files are not checked.
	loose bool
}

// stray is a file that does not belong to the catalog, or that cannot be read.
type stray struct {
	file, rule, message, fix string
	line                     int
}

// walk reads the folder of a catalog. It ignores files whose name begins with a dot, and everything beside the folder modules.
func walk(files fs.FS) (entries []*entry, strays []stray, err error) {
	if info, err := fs.Stat(files, Root); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("there is no folder %s: a catalog has %s/NAME/NAME-VERSION.yaml for each version of each module", Root, Root)
	}
	count := 0
	err = fs.WalkDir(files, Root, func(name string, file fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(file.Name(), "."):
			if file.IsDir() {
				return fs.SkipDir
			}
			return nil
		case file.IsDir():
			return nil
		}
		if count++; count > maxFiles {
			return fmt.Errorf("there are more than %d files below %s", maxFiles, Root)
		}
		one, bad := readEntry(files, name, file)
		if bad != nil {
			strays = append(strays, *bad)
		} else if one != nil {
			entries = append(entries, one)
		}
		return nil
	})
	return entries, strays, err
}

// readEntry reads one file. Both results are nil for additional files that a module may have.
func readEntry(files fs.FS, name string, file fs.DirEntry) (*entry, *stray) {
	depth := strings.Count(name, "/")
	switch {
	case depth == 2 && path.Ext(name) == ".md":
		return nil, nil
	case !file.Type().IsRegular():
		return nil, &stray{file: name, rule: RuleLayout, message: "is a link or another special file", fix: "put the file itself there"}
	case depth != 2 || path.Ext(name) != yamlEnd:
		return nil, &stray{
			file: name, rule: RuleLayout, message: "does not belong there", fix: "keep to " + Root + "/NAME/NAME-VERSION.yaml, or move it away",
		}
	}
	data, err := readFile(files, name)
	if err != nil {
		return nil, &stray{file: name, rule: RuleReadable, message: short(err.Error()), fix: "make it readable"}
	}
	objects, err := render.Parse(strings.NewReader(string(data)), maxObject)
	switch {
	case err != nil:
		return nil, &stray{file: name, rule: RuleReadable, message: err.Error(), fix: "correct it there"}
	case len(objects) != 1:
		return nil, &stray{
			file: name, rule: RuleReadable, message: fmt.Sprintf("has %d objects", len(objects)), fix: "put one ModuleTemplate into each file",
		}
	}
	return decoded(name, data, objects[0])
}

// decoded converts the object of a file to an entry.
func decoded(name string, data []byte, object *unstructured.Unstructured) (*entry, *stray) {
	one, err := decode(object)
	if err == nil {
		err = one.check(map[string]string{})
	}
	if missing, ok := errors.AsType[*fieldError](err); ok && one != nil && strings.Contains(missing.message, "is missing") {
		err = nil // another rule reports it
	}
	if err == nil {
		return &entry{item: one, file: name, data: data}, nil
	}
	field := ""
	if of, ok := errors.AsType[*fieldError](err); ok {
		field = of.field
	}
	at := place(data, object.GetKind(), object.GetName(), field)
	return nil, &stray{file: name, line: at.line, rule: RuleReadable, message: err.Error(), fix: "correct it there"}
}

// readFile reads a file of at most maxObject bytes.
func readFile(files fs.FS, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read, so no data can be lost
	data, err := io.ReadAll(io.LimitReader(file, maxObject+1))
	if err == nil && len(data) > maxObject {
		err = fmt.Errorf("has more than %d bytes", maxObject)
	}
	return data, err
}
