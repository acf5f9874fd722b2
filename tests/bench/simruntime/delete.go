package simruntime

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deletion reads the options, which come in the body.
func (q *request) deletion() (*metav1.DeleteOptions, error) {
	data, err := q.body()
	options := &metav1.DeleteOptions{}
	if err == nil && len(data) > 0 {
		if err = json.Unmarshal(data, options); err != nil {
			err = apierrors.NewBadRequest(err.Error())
		}
	}
	return options, err
}

// removeLocked answers a DELETE of one object.
func (q *request) remove() error {
	options, err := q.deletion()
	if err != nil {
		return err
	}
	unlock := q.runtime.lock()
	w, err := q.newWritingLocked()
	var left *object
	var gone *document
	if err == nil {
		w.dry = w.dry || len(options.DryRun) > 0
		left, gone, err = w.removeLocked(options.Preconditions)
	}
	unlock()
	switch {
	case err != nil:
		return err
	case left != nil:
		q.tell(http.StatusOK, left, w.table.kind, w.version)
	default:
		q.answer(http.StatusOK, &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
			Details: &metav1.StatusDetails{Name: q.name, Group: q.group, Kind: q.resource, UID: gone.GetUID()},
		})
	}
	return nil
}

// removeLocked deletes an object: at once, or it begins to leave and is returned. The caller holds the lock.
func (w *writing) removeLocked(wanted *metav1.Preconditions) (left *object, gone *document, err error) {
	live := w.table.objects[w.at]
	if live == nil {
		return nil, nil, apierrors.NewNotFound(w.table.kind.gr(), w.at.name)
	}
	d, err := live.open()
	if err == nil {
		err = w.precondition(live, d, wanted)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case w.dry:
		return nil, d, nil
	case live.leaving:
		return live, d, nil
	case len(d.GetFinalizers()) == 0 && !w.holder():
		return nil, d, w.runtime.dropLocked(w.table, live, d)
	}
	metadata := maps.Clone(d.metadata())
	metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"] = now(), int64(0)
	if generation := d.GetGeneration(); generation > 0 {
		metadata["generation"] = generation + 1
	}
	d.Object["metadata"] = metadata
	if left, err = w.runtime.putLocked(w.table, live, d); err != nil {
		return nil, nil, err
	}
	if w.holder() {
		gr := w.table.kind.gr()
		w.runtime.later(moment, func() { w.runtime.clearLocked(gr, w.at) })
	}
	return left, d, nil
}

// holder reports whether objects of the kind hold others, which go first.
func (w *writing) holder() bool {
	gr := w.table.kind.gr()
	return gr == crds || gr == namespaces
}

func (w *writing) precondition(live *object, d *document, wanted *metav1.Preconditions) error {
	if wanted == nil {
		return nil
	}
	if wanted.UID != nil && *wanted.UID != d.GetUID() {
		return apierrors.NewConflict(w.table.kind.gr(), live.name,
			errors.New("the UID in the precondition is "+string(*wanted.UID)+", the object's is "+string(d.GetUID())))
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != strconv.FormatUint(live.version, 10) {
		return apierrors.NewConflict(w.table.kind.gr(), live.name, errors.New("the resourceVersion in the precondition is "+
			*wanted.ResourceVersion+", the object's is "+strconv.FormatUint(live.version, 10)))
	}
	return nil
}

// removeAll answers a DELETE of a collection.
func (q *request) removeAll() error {
	query := q.URL.Query()
	s, err := newSelection(q.namespace, query.Get("labelSelector"), query.Get("fieldSelector"))
	if err != nil {
		return err
	}
	if _, err := q.deletion(); err != nil {
		return err
	}
	p, err := q.removeSelected(&s)
	if err != nil {
		return err
	}
	p.send(q)
	return nil
}

func (q *request) removeSelected(s *selection) (*page, error) {
	defer q.runtime.lock()()
	w, err := q.newWritingLocked()
	if err != nil {
		return nil, err
	}
	p := &page{kind: w.table.kind, version: w.version}
	for _, o := range w.table.sorted() {
		if !s.matches(o) {
			continue
		}
		w.at = place{o.namespace, o.name}
		if _, _, err := w.removeLocked(nil); err != nil {
			return nil, err
		}
		p.objects = append(p.objects, o)
	}
	p.meta.ResourceVersion = strconv.FormatUint(q.runtime.version, 10)
	return p, nil
}
