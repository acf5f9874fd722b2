package authorcmd

import (
	"bytes"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// writeRole writes the roles that an installation of the only module needs, if a file is named. A module that cannot be read has none.
func (a *author) writeRole(ctx context.Context, file string, modules []*packaging.Source) error {
	if file == "" || len(modules) == 0 {
		return nil
	}
	text, err := roleOf(ctx, modules[0])
	if err != nil {
		return err
	}
	if file == standardOutput {
		_, err = a.console.Out.Write(text)
		return err
	}
	return a.writeFiles(ctx, map[string][]byte{file: text}, file)
}

// roleOf returns the roles for those who install the module without the lifecycle manager: for its objects and for its default CR.
func roleOf(ctx context.Context, source *packaging.Source) ([]byte, error) {
	objects, err := source.Installed(ctx)
	if err != nil {
		return nil, err
	}
	roles, err := permissions.InstallRole(objects, source.Config.ModuleName()+"-installer")
	if err != nil {
		return nil, &console.Failure{Code: console.CodeError, Err: fmt.Errorf("the roles for an installation cannot be made: %w", err)}
	}
	return encodeAll(roles)
}

func encodeAll(objects []*unstructured.Unstructured) ([]byte, error) {
	var documents [][]byte
	for _, object := range objects {
		text, err := packaging.Encode(object)
		if err != nil {
			return nil, err
		}
		documents = append(documents, text)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}

// sayFindings writes findings to standard error, where standard output has something else.
func (a *author) sayFindings(found []diagnostics.Finding) {
	for _, f := range found {
		a.console.Sayf("%s", f)
	}
}
