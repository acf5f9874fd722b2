package server

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	usualPage = 50
	mostPage  = 200
	mostWords = 200
)

// page is the requested part of a list.
type page struct {
	words  []string
	limit  int
	offset int
	sort   string
	down   bool
}

// List is a part of a list. Unread names the kinds that could not be read: an empty list does not mean "none" then.
type List[T any] struct {
	Items  []T      `json:"items"`
	Total  int      `json:"total"`
	Unread []Unread `json:"unread"`
}

// pageOf reads ?search=&limit=&offset=&sort=. The sort key must be one of keys; a dash before it reverses the order.
func pageOf(query url.Values, keys ...string) (page, error) {
	p := page{limit: usualPage}
	search := query.Get("search")
	if len(search) > mostWords {
		return p, fail(http.StatusBadRequest, WhyInvalid, "search is longer than %d characters: use fewer words", mostWords)
	}
	p.words = strings.Fields(strings.ToLower(search))
	for _, number := range []struct {
		name        string
		into        *int
		least, most int
	}{{"limit", &p.limit, 1, mostPage}, {"offset", &p.offset, 0, 1 << 30}} {
		text := query.Get(number.name)
		if text == "" {
			continue
		}
		value, err := strconv.Atoi(text)
		if err != nil || value < number.least || value > number.most {
			return p, fail(http.StatusBadRequest, WhyInvalid, "%s is %q: give a number from %d to %d",
				number.name, clip(text, 20), number.least, number.most)
		}
		*number.into = value
	}
	p.sort, p.down = strings.CutPrefix(query.Get("sort"), "-")
	if p.sort != "" && !slices.Contains(keys, p.sort) {
		return p, fail(http.StatusBadRequest, WhyInvalid, "sort is %q: use one of %s; a leading dash reverses the order",
			clip(p.sort, 20), strings.Join(keys, ", "))
	}
	return p, nil
}

// has reports whether a lower-case text contains every word.
func (p *page) has(text string) bool {
	for _, word := range p.words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// chosen reports whether a value passes a filter that may be repeated, such as state=Error&state=Warning. Without a filter, every value
// passes.
func chosen(query url.Values, name, value string) bool {
	wanted := query[name]
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// flagged reports whether a value passes a filter such as outdated=true.
func flagged(query url.Values, name string, value bool) bool {
	wanted := query.Get(name)
	return wanted == "" || wanted == strconv.FormatBool(value)
}

// known refuses parameters that a list does not have: a misspelled filter must not show everything.
func known(query url.Values, names ...string) error {
	usual := []string{"search", "limit", "offset", "sort"}
	for name := range query {
		if !slices.Contains(usual, name) && !slices.Contains(names, name) {
			return fail(http.StatusBadRequest, WhyInvalid, "there is no parameter %q: there are %s",
				clip(name, 40), strings.Join(append(usual, names...), ", "))
		}
	}
	return nil
}

// rowsAt cuts the page out of the items at the indexes in fit, and makes rows of them. Only the items of the page are copied: lists are
// long.
func rowsAt[T, R any](all []T, fit []int, p page, unread []Unread, row func(item T) R) List[R] {
	list := List[R]{Items: []R{}, Total: len(fit), Unread: unread}
	for i := p.offset; i < min(len(fit), p.offset+p.limit); i++ {
		list.Items = append(list.Items, row(all[fit[i]]))
	}
	return list
}

// listOf cuts the page out of items that have already been filtered.
func listOf[T any](all []T, p page, unread []Unread) List[T] {
	list := List[T]{Items: []T{}, Total: len(all), Unread: unread}
	if p.offset < len(all) {
		list.Items = append(list.Items, all[p.offset:min(len(all), p.offset+p.limit)]...)
	}
	return list
}
