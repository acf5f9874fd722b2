package content

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// GitSource is a folder, or one file, of a git repository at one commit. It needs no git on the machine and writes no working copy: the
// objects that the server sends are held in memory, within the limits of the Store, and what is below Path becomes a Tree.
//
//  1. Exactly one of Branch, Tag and Commit is set.
//  2. Finding the commit is one request. One commit is fetched, without its history, where the server can do that.
//  3. Links, submodules and files that git LFS keeps elsewhere are refused below Path, because what they stand for is not there.
//  4. The digest is that of the canonical archive of Path, so that it stays the same when another path changes.
//
// Objects are named by hash, and go-git computes it: what a commit leads to cannot be swapped by the server.
type GitSource struct {
	// Store keeps the content; its Limits hold for what is sent (Packed) and for what that unpacks to.
	Store *Store
	// URL with https or ssh, such as ssh://git@example.com/team/repository.git. The password belongs into Auth.
	URL string
	// Branch, Tag or Commit (40 hex digits) that is wanted.
	Branch, Tag, Commit string
	// Path of the folder or file in the repository; empty means all of it.
	Path string
	Auth GitAuth
	// CA are certificates in PEM that are trusted beside the system's.
	CA []byte
	// Known is an earlier answer for the same Reference, if there is one: while the branch or tag leads to its commit, Resolve gives it
	// again and clones nothing.
	Known Resolved
	// AllowPlain accepts http, and AllowFile file: for tests, libraries and command lines.
	AllowPlain, AllowFile bool
	// Timeout bounds Resolve and Fetch each; 0 means DefaultTimeout.
	Timeout time.Duration
}

// GitAuth is what to log in with.
type GitAuth struct {
	// Username and Password for https. For ssh, Username is who logs in (default: the one in the URL, or "git"), and Password opens an
	// encrypted SSHKey, or is the password when there is no key.
	Username, Password string
	// SSHKey is a private key in PEM.
	SSHKey string
	// KnownHosts are lines as in an OpenSSH known_hosts file; ssh needs them.
	KnownHosts string
}

// Reference is the repository, what of it is wanted, and the path.
func (g *GitSource) Reference() string {
	want, err := g.parse()
	if err != nil {
		return "invalid git repository"
	}
	reference := place(want.address) + " " + want.kind + " " + want.name
	if want.path != "" {
		reference += " path " + want.path
	}
	return reference
}

// Resolve finds the commit and the digest of its content. It makes one request while the commit is the known one, and none when the
// reference names that commit; otherwise it clones.
func (g *GitSource) Resolve(ctx context.Context) (Resolved, error) {
	resolved, err := g.resolve(ctx)
	return resolved, g.wrap(err)
}

// Fetch gives the content of the commit that Resolve has found, from the store when it is there.
func (g *GitSource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	tree, err := keptOr(ctx, g.Store, resolved.Digest, func() (string, error) {
		again := *g
		again.Branch, again.Tag, again.Commit, again.Known = "", "", resolved.Version, Resolved{}
		now, err := again.resolve(ctx)
		return now.Digest, err
	})
	return tree, g.wrap(err)
}

func (g *GitSource) resolve(ctx context.Context) (Resolved, error) {
	want, err := g.parse()
	if err != nil {
		return Resolved{}, err
	}
	known := g.Known
	if _, err := digestHex(known.Digest); err != nil {
		known = Resolved{}
	}
	if want.kind == gitCommit && want.name == known.Version {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, orDefaultTimeout(g.Timeout))
	defer cancel()
	remote, err := g.open(ctx, want)
	if err != nil {
		return Resolved{}, err
	}
	defer remote.close()
	tip, err := want.tip(remote.refs())
	if err != nil {
		return Resolved{}, err
	}
	if tip.commit.String() == known.Version {
		return known, nil
	}
	return g.take(ctx, remote, tip, want.path)
}

// take clones one commit and keeps what is below path.
func (g *GitSource) take(ctx context.Context, remote gitRemote, tip gitTip, path string) (Resolved, error) {
	cloned, err := takeClone(ctx)
	if err != nil {
		return Resolved{}, err
	}
	defer cloned()
	limits := g.Store.Limits.orDefault()
	objects, done, err := remote.objects(ctx, tip)
	if err != nil {
		return Resolved{}, err
	}
	defer done()
	commit, root, err := commitOf(objects, tip.commit)
	if err != nil {
		return Resolved{}, err
	}
	files, err := (&gitWalk{ctx: ctx, objects: objects, limits: limits}).read(root, path)
	if err != nil {
		return Resolved{}, fmt.Errorf("commit %s: %w", commit, err)
	}
	digest, err := keep(g.Store, files)
	return Resolved{Digest: digest, Version: commit.String()}, err
}

func (g *GitSource) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", g.Reference(), err)
}

// gitTip is what is fetched.
type gitTip struct {
	// ref is what the server names: a commit, or a tag object that leads to it. It is zero when no reference of the server does.
	ref plumbing.Hash
	// commit that is wanted, as far as the server tells; it may be a tag object when the server does not say where that leads.
	commit plumbing.Hash
}
