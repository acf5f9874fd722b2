package communitycatalog

import (
	"cmp"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Limits restrict a fetch, and have its credentials. The zero value reads public addresses without credentials.
type Limits struct {
	// Bytes is the maximum size of the catalog; 0 means MaxBytes, which is also the upper limit.
	Bytes int64
	// Time is the total time limit; 0 means a minute.
	Time time.Duration
	// AllowPrivate allows addresses of private networks and of this machine.
	AllowPrivate bool
	// Registries has logins, certificates and other settings of hosts. Its transport is not used.
	Registries content.Registries
	// Cluster reads sources of kind cluster, with the permissions of the caller. Without it they cannot be read.
	Cluster client.Reader
	// Now returns the current time for checking the expiry of catalogs; nil means the clock of this machine.
	Now func() time.Time
}

func (l Limits) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

func (l Limits) bytes() int64 {
	if l.Bytes <= 0 || l.Bytes > MaxBytes {
		return MaxBytes
	}
	return l.Bytes
}

// fetched is a catalog as the server sent it.
type fetched struct {
	data   []byte
	digest string
}

// Fetch reads a catalog, and returns its current digest.
//
//  1. The source is validated first: no request is sent to an invalid address.
//  2. Every dialled address is checked, also those of redirects. See Limits.AllowPrivate.
//  3. The size is limited, and the source's digest and signature are verified, before the content is parsed.
//  4. The expiry is compared with the clock, and the version with the one that was seen of the source, see Freshness.
//  5. The returned digest is that of the file, or of the manifest of an artifact. A namespace of the cluster has none.
func Fetch(ctx context.Context, source Source, limits Limits) (Catalog, string, error) {
	source.Name = cmp.Or(source.Name, "unnamed")
	source, err := source.Complete()
	if err != nil {
		return Catalog{}, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(limits.Time, time.Minute))
	defer cancel()
	if source.Kind == Cluster {
		found, err := ofCluster(ctx, source, limits)
		return found, "", err
	}
	var key crypto.PublicKey
	if source.Key != "" {
		if key, err = publicKey(source.Key); err != nil {
			return Catalog{}, "", err
		}
	}
	var got fetched
	if source.Kind == OCI {
		got, err = ofRegistry(ctx, source, key, limits)
	} else {
		got, err = ofWeb(ctx, source, key, limits)
	}
	if err != nil {
		return Catalog{}, "", err
	}
	found, err := Parse(got.data)
	if err != nil {
		return Catalog{}, got.digest, fmt.Errorf("%s: %w", source.URL, err)
	}
	if found.Warning, err = found.Freshness.judge(source, limits.now()); err != nil {
		return Catalog{}, got.digest, err
	}
	return found, got.digest, nil
}

// expect compares a digest with the one that the source requires.
func (s Source) expect(digest string) error {
	if s.Digest == "" || s.Digest == digest {
		return nil
	}
	return fail(content.ReasonDigestMismatch, "%s has digest %s, and %s was asked for: it was changed; check its content now, "+
		"and add the source again with its digest", s.URL, digest, s.Digest)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ofCluster returns the templates and releases of a namespace.
func ofCluster(ctx context.Context, source Source, limits Limits) (Catalog, error) {
	if limits.Cluster == nil {
		return Catalog{}, invalid("%s is a namespace of a cluster, and there is none here", source.URL)
	}
	return read(ctx, limits.Cluster, source.URL[len("cluster://"):])
}
