package clustercache

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// identityNamespace exists in every cluster for as long as the cluster does, so its UID identifies the cluster.
const identityNamespace = "kube-system"

// maxIdentity is some three times the length of the UIDs that API servers make. A Kyma's status contains the identity.
const maxIdentity = 100

// identify reads the runtime's identity once. Without permission to read the namespace it has none, and is not compared.
func (c *connection) identify(ctx context.Context) error {
	c.mu.Lock()
	done := c.identified
	c.mu.Unlock()
	if done {
		return nil
	}
	id, err := c.readIdentity(ctx)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identified, c.identity = true, id
	return nil
}

func (c *connection) readIdentity(ctx context.Context) (string, error) {
	metadata, err := c.readNamespace(ctx, identityNamespace)
	if err != nil {
		return "", err
	}
	if uid := metadata.UID; len(uid) > maxIdentity || strings.ContainsFunc(uid, unprintable) {
		return "", fmt.Errorf("the namespace %s has a UID of %d bytes that no cluster gives", identityNamespace, len(uid))
	}
	return metadata.UID, nil
}

// namespaceMetadata is what is read of a namespace.
type namespaceMetadata struct {
	UID             string            `json:"uid"`
	ResourceVersion string            `json:"resourceVersion"`
	Annotations     map[string]string `json:"annotations"`
}

// readNamespace reads the metadata of a namespace, as part of a probe.
func (c *connection) readNamespace(ctx context.Context, name string) (*namespaceMetadata, error) {
	path := c.base.JoinPath("api/v1/namespaces", name)
	req, err := http.NewRequestWithContext(marked(ctx, markProbe), http.MethodGet, path.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", acceptMeta)
	resp, err := c.do(req) //nolint:bodyclose // drain closes it
	if err != nil {
		return nil, err
	}
	defer drain(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp, "get", path.Path)
	}
	var found struct {
		Metadata namespaceMetadata `json:"metadata"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, wire.MaxEvent)).Decode(&found); err != nil {
		return nil, fmt.Errorf("the namespace %s cannot be read: %w", name, err)
	}
	return &found.Metadata, nil
}

// ID returns the UID of the runtime's namespace kube-system, which no two clusters share; empty while it is not known, or where the
// credentials do not allow reading it.
func (r *Runtime) ID() string {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	return r.conn.identity
}

// checkIdentity refuses a runtime that is not the cluster recorded for its Kyma.
func (f *Clusters) checkIdentity(r *Runtime, t Target) *runtimes.Problem {
	if f.cfg.Pinned == nil || t.Local {
		return nil
	}
	pinned, now := f.cfg.Pinned(t.Namespace, t.Name), r.ID()
	if pinned == "" || now == "" || pinned == now {
		return nil
	}
	return &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeReplaced, Retry: retryReplaced,
		Message: fmt.Sprintf("the access Secret of Kyma %s/%s leads to another cluster than before: its namespace %s has the UID %s, not %s; "+
			"correct the Secret, or delete the Kyma and create it again if the cluster was replaced on purpose",
			t.Namespace, t.Name, identityNamespace, now, pinned),
	}
}

// retryReplaced is when a refused cluster is checked again without an event of its Secret: the Kyma may have forgotten the old one.
const retryReplaced = 45 * time.Second
