package simruntime

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// get answers with one object.
func (q *request) get() error {
	unlock := q.runtime.lock()
	t, version, err := q.tableLocked()
	if err != nil {
		unlock()
		return err
	}
	o := t.objects[place{q.namespace, q.name}]
	unlock()
	if o == nil {
		return q.gone()
	}
	q.tell(http.StatusOK, o, t.kind, version)
	return nil
}

// bookmark is where a list continues.
type bookmark struct {
	Version   uint64 `json:"v"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
}

func (b *bookmark) String() string {
	data, _ := json.Marshal(b) //nolint:errchkjson // texts and a number
	return base64.RawURLEncoding.EncodeToString(data)
}

func bookmarkOf(token string) (*bookmark, error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	b := &bookmark{}
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("continue key is not valid: " + err.Error())
	}
	return b, nil
}

// before reports whether an object was told on an earlier page.
func (b *bookmark) before(o *object) bool {
	return o.namespace < b.Namespace || o.namespace == b.Namespace && o.name <= b.Name
}

// page is a part of a list.
type page struct {
	kind    *kind
	version string
	objects []*object
	meta    metav1.ListMeta
}

// list answers with a resource, or a page of it. A later page tells what is there when it is requested, under the first one's
// resourceVersion: what changed in between is told again by a watch from there.
func (q *request) list() error {
	query := q.URL.Query()
	s, err := newSelection(q.namespace, query.Get("labelSelector"), query.Get("fieldSelector"))
	if err != nil {
		return err
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 0 {
		limit = 0
	}
	p, err := q.page(&s, limit, query.Get("continue"))
	if err != nil {
		return err
	}
	p.send(q)
	return nil
}

func (q *request) page(s *selection, limit int, token string) (*page, error) {
	defer q.runtime.lock()()
	t, version, err := q.tableLocked()
	if err != nil {
		return nil, err
	}
	p := &page{kind: t.kind, version: version, meta: metav1.ListMeta{ResourceVersion: strconv.FormatUint(q.runtime.version, 10)}}
	from := &bookmark{Version: q.runtime.version}
	if token != "" {
		if from, err = bookmarkOf(token); err != nil {
			return nil, err
		}
		if from.Version < t.compacted {
			return nil, apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result.")
		}
		p.meta.ResourceVersion = strconv.FormatUint(from.Version, 10)
	}
	for _, o := range t.sorted() {
		if s.matches(o) && (token == "" || !from.before(o)) {
			p.objects = append(p.objects, o)
		}
	}
	if limit > 0 && len(p.objects) > limit {
		left := int64(len(p.objects) - limit)
		p.objects = slices.Clip(p.objects[:limit])
		last := p.objects[limit-1]
		next := bookmark{Version: from.Version, Namespace: last.namespace, Name: last.name}
		p.meta.Continue = next.String()
		if s.labels == nil {
			p.meta.RemainingItemCount = &left
		}
	}
	return p, nil
}

// send writes the page without putting it together.
func (p *page) send(q *request) {
	meta, _ := json.Marshal(p.meta) //nolint:errchkjson // texts and a number
	partial := q.partial()
	head := partialListHead
	if !partial {
		gv := p.kind.gvk(p.version).GroupVersion().String()
		head = `{"kind":"` + p.kind.name + `List","apiVersion":"` + gv + `","metadata":`
	}
	pieces := make([][]byte, 0, 4*len(p.objects)+4)
	pieces = append(pieces, []byte(head), meta, []byte(`,"items":[`))
	for i, o := range p.objects {
		if i > 0 {
			pieces = append(pieces, []byte(","))
		}
		pieces = append(pieces, o.in(p.kind, p.version, partial)...)
	}
	q.send(http.StatusOK, append(pieces, []byte("]}"))...)
}
