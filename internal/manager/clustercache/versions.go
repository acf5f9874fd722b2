package clustercache

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Versions returns the versions in which the runtime serves a kind, for a decision that counts an object as gone: a result is valid for ten
// seconds, and then costs two calls. While the server behind the group does not respond, or the definition of the kind was observed only
// moments ago, it returns an error: a kind that discovery does not report then may still exist.
func (r *Runtime) Versions(ctx context.Context, kind schema.GroupKind) ([]string, error) {
	d, err := r.recent(ctx)
	if err != nil {
		return nil, err
	}
	versions := d.versions(kind)
	behind := func(gv string) bool { return kind.Group != "" && strings.HasPrefix(gv, kind.Group+"/") }
	switch {
	case len(versions) > 0:
		return versions, nil
	case slices.ContainsFunc(d.failed, behind):
		return nil, &apply.Error{Class: apply.ClassKindUnknown, Message: fmt.Sprintf(
			"the server behind %s does not answer; repair that server, or delete its APIService", kind.Group)}
	case r.served.isWarmingUp(kind):
		return nil, &apply.Error{Class: apply.ClassKindUnknown, Message: "its kind was defined a moment ago and is not served yet"}
	}
	return nil, nil
}

// versions returns the versions in which a kind is served.
func (d *discoveryResult) versions(kind schema.GroupKind) (versions []string) {
	for api := range strings.SplitSeq(d.apis.Value(), "\n") {
		rest, found := strings.CutSuffix(api, "/"+kind.Kind)
		if gv, err := schema.ParseGroupVersion(rest); found && err == nil && gv.Group == kind.Group {
			versions = append(versions, gv.Version)
		}
	}
	return versions
}
