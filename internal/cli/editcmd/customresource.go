package editcmd

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxFile is far above the size of any object that an API server accepts.
const maxFile = 4 << 20

// readFile reads a file, or standard input for "-".
func readFile(ctx context.Context, in io.Reader, name string) (data []byte, err error) {
	if name == "-" {
		data, err = io.ReadAll(io.LimitReader(in, maxFile+1))
	} else {
		data, err = userfile.Read(ctx, name)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, console.Usage("%w", err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return data, nil
}

// objects reads all objects of a file.
func objects(ctx context.Context, in io.Reader, name string) ([]*unstructured.Unstructured, error) {
	data, err := readFile(ctx, in, name)
	if err != nil {
		return nil, err
	}
	found, err := render.Parse(bytes.NewReader(data), maxFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

// oneObject reads a file that must hold one object.
func oneObject(ctx context.Context, in io.Reader, name string) (*unstructured.Unstructured, error) {
	found, err := objects(ctx, in, name)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, console.Usage("%s has %d objects: there must be exactly one", name, len(found))
	}
	return found[0], nil
}

// createCR creates the custom resource of --cr. An existing one is not changed if others own the fields that would change.
func (a *adding) createCR(ctx context.Context, s *session) error {
	if a.cr == nil {
		return nil
	}
	if err := inNamespace(s, a.cr); err != nil {
		return err
	}
	options := []client.ApplyOption{client.FieldOwner(kymaedit.FieldManager)}
	switch kymaedit.DryRun(a.dryRun) {
	case kymaedit.DryRunClient:
		return nil
	case kymaedit.DryRunServer:
		options = append(options, client.DryRunAll)
	case kymaedit.DryRunNone, "":
	}
	name := fmt.Sprintf("%s %s", a.cr.GetKind(), client.ObjectKeyFromObject(a.cr))
	if err := s.Apply(ctx, client.ApplyConfigurationFromUnstructured(a.cr), options...); err != nil {
		return fmt.Errorf("the module is enabled, but its custom resource %s was refused: %w", name, err)
	}
	a.console.Sayf("%s is there.", name)
	return nil
}

// inNamespace sets the namespace of modules on an object that needs a namespace and has none.
func inNamespace(s *session, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := s.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return (&console.Failure{
			Code: console.CodeError, Err: fmt.Errorf("the module is enabled, but the cluster does not know the kind of --cr, %s: %w", kind, err),
		}).With("call it again when the module runs; without --wait=false it waits for that")
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
		object.SetNamespace(v1beta2.RuntimeNamespace)
	}
	return nil
}
