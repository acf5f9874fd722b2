package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	digestHeader = "Docker-Content-Digest"
	// maxTagPages and maxTags limit the list of a repository's tags, maxTagPage one page of it.
	maxTagPages = 100
	maxTags     = 20_000
	maxTagPage  = 4 << 20
	tagsPerPage = 1000
)

// resolve requests the digest that a tag names now. It sends one HEAD request, and a GET if the registry's response to HEAD has no digest.
func (o *OCI) resolve(ctx context.Context, image Image) (Resolved, error) {
	task := "resolve " + image.String()
	return share(ctx, o, task, func(ctx context.Context) (Resolved, error) {
		return ask(ctx, o, image.Registry, image.Repository, task, func(ctx context.Context, at Endpoint) (Resolved, error) {
			found, err := o.head(ctx, at, image.Tag)
			if err == nil && found.Digest == "" {
				return o.get(ctx, at, image.Tag)
			}
			return found, err
		})
	})
}

// head returns no digest if the registry does not support HEAD.
func (o *OCI) head(ctx context.Context, at Endpoint, tag string) (Resolved, error) {
	response, err := o.send(ctx, http.MethodHead, at, manifests+"/"+tag)
	if answered, ok := errors.AsType[*statusError](err); ok && withoutHead(answered.status) {
		return Resolved{}, nil
	}
	if err != nil {
		return Resolved{}, err
	}
	defer response.Body.Close()
	digest := response.Header.Get(digestHeader)
	if _, err := digestHex(digest); err != nil {
		// An unsupported kind of digest counts as none: the manifest's digest is then computed.
		return Resolved{}, nil
	}
	return Resolved{Digest: digest, MediaType: response.Header.Get("Content-Type")}, nil
}

func withoutHead(status int) bool {
	return status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented || status == http.StatusBadRequest
}

// get reads the manifest, and stores it for the fetch that follows.
func (o *OCI) get(ctx context.Context, at Endpoint, tag string) (Resolved, error) {
	response, err := o.send(ctx, http.MethodGet, at, manifests+"/"+tag)
	if err != nil {
		return Resolved{}, err
	}
	defer response.Body.Close()
	body := &watched{Reader: response.Body}
	data, err := io.ReadAll(&manifestReader{source: body})
	if body.err != nil {
		return Resolved{}, RegistryError(fmt.Errorf("the answer broke off: %w", body.err))
	}
	if err != nil {
		return Resolved{}, err
	}
	sum := sha256.Sum256(data)
	digest := digestPrefix + hex.EncodeToString(sum[:])
	if told := response.Header.Get(digestHeader); strings.HasPrefix(told, digestPrefix) && told != digest {
		return Resolved{}, mismatch("the registry calls the manifest %s and serves one with digest %s", Quote(told), digest)
	}
	if _, err := o.Store.Put(digest, int64(len(data)), strings.NewReader(string(data))); err != nil {
		return Resolved{}, err
	}
	return Resolved{Digest: digest, MediaType: response.Header.Get("Content-Type")}, nil
}

// tags lists all tags of a repository, or returns an error.
func (o *OCI) tags(ctx context.Context, host, repository string) ([]string, error) {
	task := "list the tags of " + host + "/" + repository
	return share(ctx, o, task, func(ctx context.Context) ([]string, error) {
		return ask(ctx, o, host, repository, task, o.allTags)
	})
}

func (o *OCI) allTags(ctx context.Context, at Endpoint) ([]string, error) {
	var all []string
	next := fmt.Sprintf("tags/list?n=%d", tagsPerPage)
	for range maxTagPages {
		page, link, err := o.tagPage(ctx, at, next)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(all) > maxTags {
			break
		}
		if link == "" {
			return slices.Compact(slices.Sorted(slices.Values(all))), nil
		}
		next = link
	}
	return nil, tooLarge("it has more tags than are read (%d in %d answers): name an exact version", maxTags, maxTagPages)
}

// tagPage reads one page and returns what to request for the next one, "" at the end.
func (o *OCI) tagPage(ctx context.Context, at Endpoint, what string) (tags []string, next string, err error) {
	response, err := o.send(ctx, http.MethodGet, at, what)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body := &watched{Reader: response.Body}
	data, err := io.ReadAll(io.LimitReader(body, maxTagPage+1))
	if body.err != nil || err != nil {
		return nil, "", RegistryError(fmt.Errorf("the answer broke off: %w", errors.Join(body.err, err)))
	}
	if len(data) > maxTagPage {
		return nil, "", tooLarge("its list of tags has more than %d bytes: name an exact version", maxTagPage)
	}
	var page struct {
		Tags []string `json:"tags"`
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return nil, "", invalid("%s answers with something that is no list of tags", at.Host)
	}
	next, err = nextPage(response.Header.Values("Link"), at)
	return page.Tags, next, err
}

// nextPage returns only the query of the link to the next page: the path of the list is known, and a registry must not redirect us, and our
// token, elsewhere.
func nextPage(links []string, at Endpoint) (string, error) {
	for _, link := range links {
		target, relation, _ := strings.Cut(link, ">")
		target, isLink := strings.CutPrefix(strings.TrimSpace(target), "<")
		if !isLink || !strings.Contains(strings.ReplaceAll(relation, " ", ""), `rel="next"`) {
			continue
		}
		parsed, err := url.Parse(target)
		if err != nil || !strings.HasSuffix(parsed.Path, "/tags/list") || parsed.RawQuery == "" {
			return "", invalid("%s answers with a link to the next page of its tags that cannot be read", at.Host)
		}
		return "tags/list?" + parsed.RawQuery, nil
	}
	return "", nil
}
