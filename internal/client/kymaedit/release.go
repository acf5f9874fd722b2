package kymaedit

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// LoadRelease reads a KymaRelease; nil when there is none, or the cluster does not serve the kind.
func LoadRelease(ctx context.Context, reader client.Reader, key client.ObjectKey) (*v1beta2.KymaRelease, error) {
	release := &v1beta2.KymaRelease{}
	err := reader.Get(ctx, key, release)
	switch {
	case err == nil:
		return release, nil
	case unserved(err):
		return nil, nil
	default:
		return nil, err
	}
}

// SetRelease sets the release of the Kyma; an empty one has its modules follow channels again.
func SetRelease(spec *v1beta2.KymaSpec, release string) Change {
	if spec.Release == release {
		return Change{Action: Unchanged}
	}
	spec.Release = release
	return Change{Action: Changed, Fields: []string{"release"}}
}

// NotInReleaseError is a release that does not have modules of a Kyma.
type NotInReleaseError struct {
	Release string
	Modules []string
}

// Error names the modules.
func (e *NotInReleaseError) Error() string {
	return fmt.Sprintf("release %s does not have %s", e.Release, strings.Join(e.Modules, ", "))
}

// MayRelease reports whether every managed module that would follow a release can have its version: nil, a *NotInReleaseError, or a
// *LowerError.
func (s *KymaContext) MayRelease(release *v1beta2.KymaRelease) error {
	spec := s.Asked.DeepCopy()
	spec.Release = release.Name
	var lacking []string
	for i := range spec.Modules {
		entry := &spec.Modules[i]
		if !IsManaged(entry) || !module.FollowsRelease(&v1beta2.Kyma{Spec: *spec}, entry) {
			continue
		}
		version := release.VersionOf(entry.Name)
		if version == "" {
			lacking = append(lacking, entry.Name)
		} else if err := s.NotLower(ModuleRequest{Name: entry.Name, Version: version}); err != nil {
			return err
		}
	}
	if len(lacking) > 0 {
		return &NotInReleaseError{release.Name, lacking}
	}
	return nil
}
