package directinstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

type runtimeObject = runtime.Object

// cascade deletes the objects that users made with the module, if all of them were in the preview. left means that the deletion of some is
// not finished.
func (c *removing) cascade(ctx context.Context, report *Report) (left bool, err error) {
	if len(report.Blocking) == 0 {
		return false, nil
	}
	if !c.removal.Cascade {
		return false, blocked(c.module, report.Blocking, "these objects would be left without their operator; delete them first")
	}
	if unseen := c.notPreviewed(report.Blocking); len(unseen) > 0 {
		return false, blocked(c.module, unseen, "these objects came after the preview")
	}
	ctx, cancel := context.WithTimeout(ctx, max(c.removal.Wait, patience))
	defer cancel()
	// All objects of a kind are deleted at once, and one kind after the other: users' objects before those that configure the operator.
	for _, group := range grouped(report.Blocking) {
		report.Changed = true
		if err := c.deleteAll(ctx, group); err != nil {
			return false, err
		}
		if waits := c.awaitGone(ctx, group); waits != nil {
			report.Report = installer.Report{
				State: installer.StateDeleting, Reason: installer.ReasonWaitingForDeletion, Message: waits.Error(),
			}
			return true, nil
		}
	}
	if report.Blocking, err = c.resources(ctx); err == nil && len(report.Blocking) > 0 {
		err = blocked(c.module, report.Blocking, "these objects came after the preview")
	}
	return false, err
}

// notPreviewed returns the objects that were not in the preview.
func (c *removing) notPreviewed(found []Resource) []Resource {
	return slices.DeleteFunc(slices.Clone(found), func(resource Resource) bool {
		return slices.ContainsFunc(c.removal.Previewed, func(shown Resource) bool { return shown.ID == resource.ID && shown.UID == resource.UID })
	})
}

// grouped divides objects by kind, and keeps the order of the kinds.
func grouped(found []Resource) [][]Resource {
	var groups [][]Resource
	for _, resource := range found {
		if last := len(groups) - 1; last >= 0 && groups[last][0].GroupKind() == resource.GroupKind() {
			groups[last] = append(groups[last], resource)
		} else {
			groups = append(groups, []Resource{resource})
		}
	}
	return groups
}

func (c *removing) at(resource *Resource) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapped(resource.GroupKind().WithVersion(resource.Version))
	if err != nil || mapping == nil {
		return nil, errors.Join(err, fmt.Errorf("%s: its kind is no longer served", resource))
	}
	return c.cluster.Dynamic.Resource(mapping.Resource).Namespace(resource.Namespace), nil
}

// deleteAll deletes exactly these objects: a successor of the same name stays.
func (c *removing) deleteAll(ctx context.Context, group []Resource) error {
	for i := range group {
		resource := &group[i]
		client, err := c.at(resource)
		if err != nil {
			return err
		}
		uid := types.UID(resource.UID)
		err = client.Delete(ctx, resource.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) {
			return apply.Explain("delete", resource.ID, err)
		}
		c.progress(resource, "is being deleted")
	}
	return nil
}

func (c *removing) progress(resource *Resource, message string) {
	if c.removal.Progress != nil {
		c.removal.Progress(installer.ObjectReport{ID: resource.ID, Version: resource.Version, Action: apply.Deleted, Message: message})
	}
}

// awaitGone waits until objects are gone; its error names one that is not, and what it waits for.
func (c *removing) awaitGone(ctx context.Context, group []Resource) error {
	for i := range group {
		resource := &group[i]
		held, err := c.gone(ctx, resource)
		if err == nil {
			continue
		}
		text := resource.String() + " is being deleted"
		if len(held) > 0 {
			text += ", and waits for " + strings.Join(held, ", ")
		}
		return errors.New(text)
	}
	return nil
}

// gone watches one object until it is gone or the context ends, and returns the finalizers that hold it.
func (c *removing) gone(ctx context.Context, resource *Resource) (held []string, err error) {
	client, err := c.at(resource)
	if err != nil {
		return nil, err
	}
	for {
		live, err := client.Get(ctx, resource.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && string(live.GetUID()) != resource.UID {
			c.progress(resource, "is gone")
			return nil, nil
		}
		if err != nil {
			return held, err
		}
		held = live.GetFinalizers()
		if !follow(ctx, client, resource.Name, live.GetResourceVersion()) && ctx.Err() != nil {
			return held, ctx.Err()
		}
	}
}

// follow watches one object until it is deleted, or the stream ends.
func follow(ctx context.Context, client dynamic.ResourceInterface, name, version string) (deleted bool) {
	stream, err := client.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(), ResourceVersion: version,
	})
	if err != nil {
		select { // wait before the next read
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		return false
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if event.Type == watch.Deleted {
			return true
		}
	}
	return false
}
