package git

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// The kinds of a requested revision.
const (
	kindBranch = "branch"
	kindTag    = "tag"
	kindCommit = "commit"
)

const (
	hashLen = 40
	// maxAddress is how many characters a URL may have.
	maxAddress = 2048
	maxName    = 255
)

// revision is a validated Source.
type revision struct {
	address *url.URL
	// user is the user in the URL; ssh only.
	user string
	// kind is one of the constants above.
	kind, name string
	// path is clean; empty means the root.
	path string
}

// parse checks everything that can be checked without a request.
func (g *Source) parse() (revision, error) {
	want, err := g.parseURL()
	if err != nil {
		return revision{}, err
	}
	if want.kind, want.name, err = g.parseName(); err != nil {
		return revision{}, err
	}
	if want.path, err = cleanRepositoryPath(g.Path); err != nil {
		return revision{}, err
	}
	return want, nil
}

// parseURL accepts https and ssh, and other schemes that the fields allow.
func (g *Source) parseURL() (revision, error) {
	text := g.URL
	unwanted := func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`'"\!`+"`", r)
	}
	if len(text) > maxAddress || strings.ContainsFunc(text, unwanted) {
		return revision{}, sourceInvalid("the git URL is longer than %d characters, or has characters that no such URL needs", maxAddress)
	}
	address, err := url.Parse(text)
	if err != nil || !strings.Contains(text, "://") {
		// The parser's error repeats the text, which may contain a password.
		return revision{}, sourceInvalid("the git URL cannot be read: write https://host/path or ssh://git@host/path (host:path is not accepted)")
	}
	want := revision{address: address, user: address.User.Username()}
	_, password := address.User.Password()
	switch {
	case password, want.user != "" && address.Scheme != "ssh":
		return revision{}, sourceInvalid("%s: credentials do not belong in the URL; give them beside it", content.DisplayURL(address))
	case address.RawQuery != "" || address.Fragment != "" || address.ForceQuery:
		return revision{}, sourceInvalid("%s: nothing may follow the path; give branch, tag, commit and path beside the URL",
			content.DisplayURL(address))
	case strings.Trim(address.Path, "/") == "":
		return revision{}, sourceInvalid("%s names no repository: add its path", content.DisplayURL(address))
	}
	return want, g.checkScheme(address)
}

func (g *Source) checkScheme(address *url.URL) error {
	switch {
	case address.Scheme == "file" && g.AllowFile:
		if address.Host != "" {
			return sourceInvalid("%s: a file has no host; write file:///path", content.DisplayURL(address))
		}
		return nil
	case address.Scheme == "https", address.Scheme == "ssh", address.Scheme == "http" && g.AllowPlain:
		if err := content.CheckHost(strings.ToLower(address.Host)); err != nil {
			return sourceInvalid("%s: %w", content.DisplayURL(address), err)
		}
		return nil
	default:
		return sourceInvalid("%s: scheme %q is not accepted; use https or ssh", content.DisplayURL(address), address.Scheme)
	}
}

func (g *Source) parseName() (kind, name string, err error) {
	for _, each := range []struct{ kind, name string }{{kindBranch, g.Branch}, {kindTag, g.Tag}, {kindCommit, g.Commit}} {
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
	case kindCommit:
		name = strings.ToLower(name)
		if len(name) != hashLen || !plumbing.IsHash(name) || plumbing.NewHash(name).IsZero() {
			return "", "", sourceInvalid("commit %s is not valid: give all %d hex digits", content.Quote(name), hashLen)
		}
		return kind, name, nil
	default:
		if len(name) > maxName || strings.ContainsFunc(name, unicode.IsSpace) || refName(kind, name).Validate() != nil {
			return "", "", sourceInvalid("%s %s has a name that git does not accept", kind, content.Quote(name))
		}
		return kind, name, nil
	}
}

func refName(kind, name string) plumbing.ReferenceName {
	if kind == kindTag {
		return plumbing.NewTagReferenceName(name)
	}
	return plumbing.NewBranchReferenceName(name)
}

// cleanRepositoryPath cleans the path in the repository.
func cleanRepositoryPath(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if path.IsAbs(text) {
		return "", sourceInvalid("path %s is absolute: give one relative to the repository", content.Quote(text))
	}
	clean, err := content.CleanPath(text)
	switch {
	case err != nil:
		return "", sourceInvalid("path %s is not accepted: %w", content.Quote(text), err)
	case clean == ".":
		return "", nil
	default:
		return clean, nil
	}
}

// references are the references of a repository, by their full names.
type references struct {
	hashes map[string]plumbing.Hash
	// peeled holds the targets of annotated tags.
	peeled map[string]plumbing.Hash
}

// tip returns the requested revision from the references.
func (w revision) tip(refs references) (commitRef, error) {
	if w.kind == kindCommit {
		commit := plumbing.NewHash(w.name)
		return commitRef{ref: refs.leadingTo(commit), commit: commit}, nil
	}
	name := refName(w.kind, w.name).String()
	hash, ok := refs.hashes[name]
	if !ok {
		return commitRef{}, notFound("the repository has no %s of that name: correct it, or push it", w.kind)
	}
	tip := commitRef{ref: hash, commit: hash}
	if peeled, ok := refs.peeled[name]; ok {
		tip.commit = peeled
	}
	return tip, nil
}

// leadingTo returns the hash of a reference that is the commit or a tag of it, or zero.
func (r references) leadingTo(commit plumbing.Hash) plumbing.Hash {
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
