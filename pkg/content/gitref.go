package content

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
)

// The kinds of a requested revision.
const (
	gitBranch = "branch"
	gitTag    = "tag"
	gitCommit = "commit"
)

const (
	gitHashLen = 40
	maxGitName = 255
)

// gitWant is a validated GitSource.
type gitWant struct {
	address *url.URL
	// user is the user in the URL; ssh only.
	user string
	// kind is one of the constants above.
	kind, name string
	// path is clean; empty means the root.
	path string
}

// parse checks everything that can be checked without a request.
func (g *GitSource) parse() (gitWant, error) {
	want, err := g.parseURL()
	if err != nil {
		return gitWant{}, err
	}
	if want.kind, want.name, err = g.parseName(); err != nil {
		return gitWant{}, err
	}
	if want.path, err = gitPath(g.Path); err != nil {
		return gitWant{}, err
	}
	return want, nil
}

// parseURL accepts https and ssh, and other schemes that the fields allow.
func (g *GitSource) parseURL() (gitWant, error) {
	text := g.URL
	unwanted := func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`'"\!`+"`", r)
	}
	if len(text) > maxAddress || strings.ContainsFunc(text, unwanted) {
		return gitWant{}, sourceInvalid("the git URL is longer than %d characters, or has characters that no such URL needs", maxAddress)
	}
	address, err := url.Parse(text)
	if err != nil || !strings.Contains(text, "://") {
		// The parser's error repeats the text, which may contain a password.
		return gitWant{}, sourceInvalid("the git URL cannot be read: write https://host/path or ssh://git@host/path (host:path is not accepted)")
	}
	want := gitWant{address: address, user: address.User.Username()}
	_, password := address.User.Password()
	switch {
	case password, want.user != "" && address.Scheme != "ssh":
		return gitWant{}, sourceInvalid("%s: credentials do not belong in the URL; give them beside it", place(address))
	case address.RawQuery != "" || address.Fragment != "" || address.ForceQuery:
		return gitWant{}, sourceInvalid("%s: nothing may follow the path; give branch, tag, commit and path beside the URL", place(address))
	case strings.Trim(address.Path, "/") == "":
		return gitWant{}, sourceInvalid("%s names no repository: add its path", place(address))
	}
	return want, g.checkScheme(address)
}

func (g *GitSource) checkScheme(address *url.URL) error {
	switch {
	case address.Scheme == "file" && g.AllowFile:
		if address.Host != "" {
			return sourceInvalid("%s: a file has no host; write file:///path", place(address))
		}
		return nil
	case address.Scheme == "https", address.Scheme == "ssh", address.Scheme == "http" && g.AllowPlain:
		if err := checkHost(strings.ToLower(address.Host)); err != nil {
			return sourceInvalid("%s: %w", place(address), err)
		}
		return nil
	default:
		return sourceInvalid("%s: scheme %q is not accepted; use https or ssh", place(address), address.Scheme)
	}
}

func (g *GitSource) parseName() (kind, name string, err error) {
	for _, each := range []struct{ kind, name string }{{gitBranch, g.Branch}, {gitTag, g.Tag}, {gitCommit, g.Commit}} {
		switch {
		case each.name == "":
		case kind != "":
			return "", "", sourceInvalid("%s and %s are both given: give one of branch, tag and commit", kind, each.kind)
		default:
			kind, name = each.kind, each.name
		}
	}
	switch kind {
	case "":
		return "", "", sourceInvalid("none of branch, tag and commit is given: give one of them")
	case gitCommit:
		name = strings.ToLower(name)
		if len(name) != gitHashLen || !plumbing.IsHash(name) || plumbing.NewHash(name).IsZero() {
			return "", "", sourceInvalid("commit %s is none: give all %d hex digits", quote(name), gitHashLen)
		}
		return kind, name, nil
	default:
		if len(name) > maxGitName || strings.ContainsFunc(name, unicode.IsSpace) || refName(kind, name).Validate() != nil {
			return "", "", sourceInvalid("%s %s has a name that git does not accept", kind, quote(name))
		}
		return kind, name, nil
	}
}

func refName(kind, name string) plumbing.ReferenceName {
	if kind == gitTag {
		return plumbing.NewTagReferenceName(name)
	}
	return plumbing.NewBranchReferenceName(name)
}

// gitPath cleans the path in the repository.
func gitPath(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if path.IsAbs(text) {
		return "", sourceInvalid("path %s is absolute: give one relative to the repository", quote(text))
	}
	clean, err := cleanPath(text)
	switch {
	case err != nil:
		return "", sourceInvalid("path %s is not accepted: %w", quote(text), err)
	case clean == ".":
		return "", nil
	default:
		return clean, nil
	}
}

// gitRefs are the references of a repository, by their full names.
type gitRefs struct {
	hashes map[string]plumbing.Hash
	// peeled holds the targets of annotated tags.
	peeled map[string]plumbing.Hash
}

// tip returns the requested revision from the references.
func (w gitWant) tip(refs gitRefs) (gitTip, error) {
	if w.kind == gitCommit {
		commit := plumbing.NewHash(w.name)
		return gitTip{ref: refs.leadingTo(commit), commit: commit}, nil
	}
	name := refName(w.kind, w.name).String()
	hash, ok := refs.hashes[name]
	if !ok {
		return gitTip{}, notFound("the repository has no %s of that name: correct it, or push it", w.kind)
	}
	tip := gitTip{ref: hash, commit: hash}
	if peeled, ok := refs.peeled[name]; ok {
		tip.commit = peeled
	}
	return tip, nil
}

// leadingTo returns the hash of a reference that is the commit or a tag of it, or zero.
func (r gitRefs) leadingTo(commit plumbing.Hash) plumbing.Hash {
	for _, hash := range r.hashes {
		if hash == commit {
			return hash
		}
	}
	for name, peeled := range r.peeled {
		if peeled == commit {
			return r.hashes[name]
		}
	}
	return plumbing.ZeroHash
}
