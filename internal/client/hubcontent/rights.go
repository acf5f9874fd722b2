package hubcontent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RightsError means that rights are missing for an import.
type RightsError struct{ Denied []string }

// Error names them.
func (e *RightsError) Error() string {
	return "you may not " + strings.Join(e.Denied, ", ") + ": nothing was written"
}

// checkRights finds out whether everything that the steps write may be written, so that a missing right leaves nothing half done.
func (i *importing) checkRights(ctx context.Context) error {
	asked := map[authorizationv1.ResourceAttributes]bool{}
	var denied []string
	for _, s := range i.steps {
		for _, attributes := range s.needs() {
			if asked[attributes] {
				continue
			}
			asked[attributes] = true
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes}}
			if err := i.client.Create(ctx, review); err != nil {
				return fmt.Errorf("your rights cannot be checked: %w", err)
			}
			if !review.Status.Allowed {
				denied = append(denied, describe(&attributes))
			}
		}
	}
	if len(denied) > 0 {
		slices.Sort(denied)
		return &RightsError{slices.Compact(denied)}
	}
	return nil
}

func describe(a *authorizationv1.ResourceAttributes) string {
	text := a.Verb + " " + a.Resource
	if a.Subresource != "" {
		text += "/" + a.Subresource
	}
	if a.Namespace != "" {
		text += " in namespace " + a.Namespace
	}
	return text
}

// needs returns the rights that a step takes.
func (s *step) needs() []authorizationv1.ResourceAttributes {
	at, _ := waveOf(s.want)
	base := authorizationv1.ResourceAttributes{Namespace: s.id.Namespace, Group: waves[at].kind.Group, Resource: waves[at].resource}
	var all []authorizationv1.ResourceAttributes
	add := func(verb, subresource string) {
		one := base
		one.Verb, one.Subresource = verb, subresource
		all = append(all, one)
	}
	switch s.action {
	case Created:
		add("create", "")
	case Overwritten:
		add("update", "")
	case Continued, Unchanged, Differs, Kept:
	}
	if s.pending() || s.takesOver != "" || s.writes() && s.id.Kind == kindManifest {
		add("patch", "")
	}
	if s.pending() && s.want.Object["status"] != nil {
		add("patch", "status")
	}
	return all
}

// withoutContent returns why a Secret was refused, without what an API server quotes of it.
func withoutContent(id ID, err error) error {
	if id.Kind == kindSecret && apierrors.IsInvalid(err) {
		return errors.New("the API server refuses it as invalid")
	}
	return err
}
