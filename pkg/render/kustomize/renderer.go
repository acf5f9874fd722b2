package kustomize

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxText cuts what kustomize says: it repeats the content, which may be long.
const maxText = 600

// building has one place: kustomize keeps its schemas in variables of its package, where two builds would meet.
var building = make(chan struct{}, 1)

// Renderer builds a kustomization as "kustomize build" does. Path is its folder in the content, unless Input names one; empty is the root.
//
// Kustomize itself fetches whatever an entry names, by HTTP and by a git program, and has no switch to forbid it. So all that it
// would read is looked at first (see walk), and it gets to see those files and no others.
//
// What goes into a build is capped. What comes out may be larger by a factor that replacements and copying patches set; the result is
// refused when it is larger than DefaultLimit, but it has been in memory then.
type Renderer struct {
	Path string
}

// Render builds the kustomization. Builds wait for each other.
func (k Renderer) Render(ctx context.Context, tree *content.Tree, input render.Input) (render.Rendered, error) {
	if err := render.RefuseValues(input); err != nil {
		return render.Rendered{}, err
	}
	k.Path = cmp.Or(input.Path, k.Path)
	folder, err := k.folder()
	if err != nil {
		return render.Rendered{}, err
	}
	select {
	case building <- struct{}{}:
		defer func() { <-building }()
	case <-ctx.Done():
	}
	if err := render.Interrupted(ctx); err != nil {
		return render.Rendered{}, err
	}
	text, err := newWalk(tree).run(folder)
	if err != nil {
		return render.Rendered{}, err
	}
	objects, err := render.Parse(bytes.NewReader(text), render.DefaultLimit)
	if err != nil {
		return render.Rendered{}, render.InFile("the result of kustomize", err)
	}
	return render.Rendered{Steps: render.OneStep(objects)}, nil
}

// ClusterIndependent implements render.ClusterIndependent.
func (Renderer) ClusterIndependent() {}

// folder returns the clean path of the kustomization; "" is the root.
func (k Renderer) folder() (string, error) {
	folder := path.Clean("/" + k.Path)[1:]
	if strings.HasPrefix(k.Path, "/") || leadsOut(path.Clean(k.Path)) {
		return "", &content.Error{
			Reason: content.ReasonSourceInvalid,
			Err:    fmt.Errorf("the path %q of the kustomization leads out of the content: name a folder below its root", k.Path),
		}
	}
	return folder, nil
}

// run walks and builds. The library panics at content that it does not expect.
func (w *walk) run(folder string) (text []byte, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			text, err = nil, w.failed(folder, fmt.Errorf("it breaks down: %v", problem))
		}
	}()
	if err := w.visit(folder, nil); err != nil {
		return nil, err
	}
	return w.build(folder)
}

// build lets kustomize build what was walked. It may read every file that it is shown: a base or a patch beside the folder of a
// kustomization is part of the content as well, and there is nothing else in its file system. Programs are never run.
func (w *walk) build(folder string) ([]byte, error) {
	if w.ownSchema {
		// Kustomize keeps the schema of a build for those that follow, which belong to other callers.
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	options.LoadRestrictions = types.LoadRestrictionsNone
	built, err := krusty.MakeKustomizer(options).Run(newReadOnlyFS(w.read), "/"+folder)
	if err != nil {
		return nil, w.failed(folder, err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, w.failed(folder, err)
	}
	return text, nil
}

// failed returns what kustomize says, on one line. It repeats what it was reading, so that with a Secret in the content nothing of it is
// shown: this text ends up in a status that more users read than Secrets.
func (w *walk) failed(folder string, err error) error {
	where := "kustomize cannot build the " + folderName(folder)
	if w.secret {
		return content.Errorf(content.ReasonContentInvalid,
			"%s; its message is left out, as it may hold parts of a Secret: run \"kustomize build\" to see it", where)
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "..."
	}
	return content.Errorf(content.ReasonContentInvalid, "%s: %s", where, text)
}

func folderName(folder string) string {
	if folder == "" {
		return "root of the content"
	}
	return fmt.Sprintf("folder %q", folder)
}
