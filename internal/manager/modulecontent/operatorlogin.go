package modulecontent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// OperatorLogin is the scope of the operator's own registry login for a Manifest. The Manifest's author chooses what is read, and the
// operator may have access to more than the author. So the login is only for authors who could read its Secret anyway, and for content that
// the operator installs by itself.
type OperatorLogin struct {
	// Any permits reading everything that the Manifest names.
	Any bool
	// Repository is the repository ("host/path") of the Manifest's component, whose layers may be read; empty for none.
	Repository string
}

// covers reports whether the operator's login may be used for a source.
func (l OperatorLogin) covers(source content.Source) bool {
	layer, is := source.(*content.LayerSource)
	return l.Any || is && l.Repository != "" && layer.Ref.Registry+"/"+layer.Ref.Repository == l.Repository
}

// loginsFor returns the logins for a part's source: those of its Secrets, and the operator's own login where it may be used for that
// source.
func (c *Contents) loginsFor(ctx context.Context, m *v1beta2.Manifest, part *parsedSource, source content.Source) (Logins, error) {
	found, err := c.logins(ctx, m.Namespace, part.selector)
	if err != nil || c.OperatorLogin == nil {
		found.operators = true
		return found, err
	}
	own, err := c.OperatorLogin(ctx, m)
	found.operators = own.covers(source)
	return found, err
}

// withheld adds to a refusal that the operator has a login for that host, which may not be used for the Manifest.
func (c *Contents) withheld(ctx context.Context, m *v1beta2.Manifest, logins *Logins, source content.Source, err error) error {
	failed, is := errors.AsType[*content.Error](err)
	if !is || logins.operators || logins.Docker != nil || c.OCI.Credentials == nil ||
		failed.Reason != content.ReasonRegistryUnauthorized && failed.Reason != content.ReasonContentNotFound {
		return err
	}
	host, _, _ := strings.Cut(source.Reference(), "/")
	if found, problem := c.OCI.Credentials(ctx, host); problem != nil || found == auth.EmptyCredential {
		return err
	}
	return &content.Error{Reason: failed.Reason, RetryAfter: failed.RetryAfter, Err: fmt.Errorf(
		"%w; the operator's own login for %s is not for this Manifest of namespace %s: select a Secret of that namespace with "+
			"credSecretSelector", failed.Err, host, m.Namespace)}
}
