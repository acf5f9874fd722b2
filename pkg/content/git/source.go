package git

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Source is a folder or a file of a git repository at one commit. It needs no git program and writes no working copy: the objects that
// the server sends are held in memory, within the limits of the Store, and what is below Path becomes a Tree.
//
//  1. Exactly one of Branch, Tag and Commit must be set.
//  2. Finding the commit takes one request. One commit is fetched, without history if the server supports that.
//  3. Links, submodules and git LFS files below Path are refused, because the repository does not contain their content.
//  4. The digest is that of the canonical archive of Path, so that it does not change with other paths.
//
// Objects are named by hash, which go-git verifies: the server cannot replace what a commit leads to.
type Source struct {
	// Store keeps the content; its Limits apply to the bytes sent (Packed) and to their unpacked size.
	Store *content.Store
	// URL uses https or ssh, such as ssh://git@example.com/team/repository.git. A password belongs in Auth.
	URL string
	// Branch, Tag or Commit (40 hex digits) is the requested revision.
	Branch, Tag, Commit string
	// Path of the folder or file in the repository; empty means all of it.
	Path string
	Auth Auth
	// CA holds PEM certificates that are trusted in addition to the system's.
	CA []byte
	// Known is an earlier result for the same Reference, if there is one: while the branch or tag leads to its commit, Resolve returns it
	// again and clones nothing.
	Known content.Resolved
	// AllowPlain accepts http, and AllowFile file URLs: for tests, libraries and command-line tools.
	AllowPlain, AllowFile bool
	// Timeout limits Resolve and Fetch each; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Auth holds the credentials of a repository.
type Auth struct {
	// Username and Password are for https. For ssh, Username is the login name (default: the one in the URL, or "git"), and Password decrypts
	// SSHKey, or is the login password if there is no key.
	Username, Password string
	// SSHKey is a private key in PEM.
	SSHKey string
	// KnownHosts holds lines as in an OpenSSH known_hosts file; ssh requires them.
	KnownHosts string
}

// Reference returns the repository, the requested revision, and the path.
func (g *Source) Reference() string {
	want, err := g.parse()
	if err != nil {
		return "invalid git repository"
	}
	reference := content.DisplayURL(want.address) + " " + want.kind + " " + want.name
	if want.path != "" {
		reference += " path " + want.path
	}
	return reference
}

// Resolve returns the commit and the digest of its content. It makes one request while the commit is the known one, and none if the
// reference names that commit; otherwise it clones.
func (g *Source) Resolve(ctx context.Context) (content.Resolved, error) {
	resolved, err := g.resolve(ctx)
	return resolved, g.wrap(err)
}

// Fetch returns the content of the commit that Resolve returned, from the store if it is there.
func (g *Source) Fetch(ctx context.Context, resolved content.Resolved) (*content.Tree, error) {
	tree, err := g.Store.TreeOr(ctx, resolved.Digest, func() (string, error) {
		again := *g
		again.Branch, again.Tag, again.Commit, again.Known = "", "", resolved.Version, content.Resolved{}
		now, err := again.resolve(ctx)
		return now.Digest, err
	})
	return tree, g.wrap(err)
}

func (g *Source) resolve(ctx context.Context) (content.Resolved, error) {
	want, err := g.parse()
	if err != nil {
		return content.Resolved{}, err
	}
	known := g.Known
	if content.CheckDigest(known.Digest) != nil {
		known = content.Resolved{}
	}
	if want.kind == kindCommit && want.name == known.Version {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout())
	defer cancel()
	remote, err := g.open(ctx, want)
	if err != nil {
		return content.Resolved{}, err
	}
	defer remote.close()
	tip, err := want.tip(remote.refs())
	if err != nil {
		return content.Resolved{}, err
	}
	if tip.commit.String() == known.Version {
		return known, nil
	}
	return g.take(ctx, remote, tip, want.path)
}

// take clones one commit and stores the content below path.
func (g *Source) take(ctx context.Context, remote repository, tip commitRef, path string) (content.Resolved, error) {
	cloned, err := content.AcquireClone(ctx)
	if err != nil {
		return content.Resolved{}, err
	}
	defer cloned()
	limits := g.Store.Limits.OrDefault()
	objects, done, err := remote.objects(ctx, tip)
	if err != nil {
		return content.Resolved{}, err
	}
	defer done()
	commit, root, err := commitOf(objects, tip.commit)
	if err != nil {
		return content.Resolved{}, err
	}
	files, err := (&treeWalk{ctx: ctx, objects: objects, limits: limits}).read(root, path)
	if err != nil {
		return content.Resolved{}, fmt.Errorf("commit %s: %w", commit, err)
	}
	digest, err := g.Store.PutFiles(files)
	return content.Resolved{Digest: digest, Version: commit.String()}, err
}

func (g *Source) timeout() time.Duration {
	if g.Timeout > 0 {
		return g.Timeout
	}
	return content.DefaultTimeout
}

func (g *Source) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", g.Reference(), err)
}

// commitRef is the revision to fetch.
type commitRef struct {
	// ref is the hash that the server advertises: a commit, or a tag object that leads to it. It is zero if no reference of the server does.
	ref plumbing.Hash
	// commit is the requested one, as far as the server tells; it may be a tag object if the server does not say where that leads.
	commit plumbing.Hash
}
