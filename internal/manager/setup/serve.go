package setup

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/contentserver"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
)

// serveContent adds the content server, if it is requested. Every replica has one, and fetches content that it does not have yet.
func serveContent(mgr ctrl.Manager, hub *rest.Config, c *Config, contents *modulecontent.Contents, hooks Hooks) error {
	if c.ContentAddress == "" {
		return nil
	}
	reviews, err := kubernetes.NewForConfig(hub)
	if err != nil {
		return fmt.Errorf("content server: %w", err)
	}
	return mgr.Add(&contentserver.Server{
		Addr: c.ContentAddress, CertDir: c.ContentCertDir,
		Tokens:   reviews.AuthenticationV1().TokenReviews(),
		Access:   reviews.AuthorizationV1().SubjectAccessReviews(),
		Contents: (&library{reader: mgr.GetClient(), contents: contents}).items,
		Log:      mgr.GetLogger().WithName("content"), Listening: hooks.ContentListening,
	})
}

// library returns the content of Manifests.
type library struct {
	reader   client.Reader
	contents *modulecontent.Contents
}

func (l *library) items(ctx context.Context, namespace, name string) ([]contentserver.Item, error) {
	manifest := &v1beta2.Manifest{}
	err := l.reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, manifest)
	if apierrors.IsNotFound(err) {
		return nil, contentserver.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	items := make([]contentserver.Item, 0, len(manifest.Status.Resolved))
	var failures []error
	for _, resolved := range manifest.Status.Resolved {
		item := contentserver.Item{
			Install: resolved.Name, Reference: resolved.Reference, Digest: resolved.Digest, MediaType: resolved.MediaType,
		}
		found, tree, err := l.contents.Files(ctx, manifest, resolved.Name)
		switch {
		case errors.Is(err, modulecontent.ErrPending):
			// the others are served, this one is reported as pending
		case err != nil:
			failures = append(failures, err) // this one is reported as pending too, unless all have failed
		case found.Digest == resolved.Digest:
			item.Tree = tree
		default:
			// The spec has changed, and the new content must not be shown under the digest of the installed one; the status follows soon.
		}
		items = append(items, item)
	}
	switch len(items) {
	case 0:
		return nil, contentserver.ErrNotFound
	case len(failures):
		return nil, failures[0]
	default:
		return items, nil
	}
}
