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

// Limits say how far a fetch may go, and with what. The zero value reads public addresses without credentials.
type Limits struct {
	// Bytes is how large the catalog may be; 0 means MaxBytes, which is the most.
	Bytes int64
	// Time is how long it may take in all; 0 means a minute.
	Time time.Duration
	// AllowPrivate lets addresses of private networks and of this machine be read.
	AllowPrivate bool
	// Registries has logins, certificates and what else is special about hosts. Its transport is not used.
	Registries content.Registries
	// Cluster is what sources of kind cluster are read from, with the permissions of the caller. Without it there are none.
	Cluster client.Reader
	// Now returns the clock that tells which catalogs have expired; nil is that of this machine.
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

// fetched is a catalog as it was served.
type fetched struct {
	data   []byte
	digest string
}

// Fetch reads a catalog, and tells the digest that it has now.
//
//  1. The source is judged first: an address that makes no sense is not asked.
//  2. Every address that is dialled is looked at, those that redirects lead to as well. See Limits.AllowPrivate.
//  3. What is served is counted, and compared with the digest and with the signature that the source asks for, before it is parsed.
//  4. What it says of its age is compared with the clock and with the version that was seen of the source, see Freshness.
//  5. The digest is that of the file, or of the manifest of an artifact. A namespace of the cluster has none.
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

// expect compares a digest with the one that the source asks for.
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
