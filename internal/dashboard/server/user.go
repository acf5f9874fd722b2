package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// User is a logged-in user. Requests with Config and Client are made as this user.
type User struct {
	// Name and Groups are those that the cluster reports.
	Name   string
	Groups []string
	// Config and Client reach the hub as the user. They hold the token: never print them.
	Config *rest.Config
	Client client.Client

	// watcher is Client with support for watches.
	watcher client.WithWatch

	// renewal renews the login; nil if it is not renewed.
	renewal *renewal

	// ended reports whether the session has ended, after which nothing may start with its permissions.
	ended atomic.Bool

	mutex  sync.Mutex
	rights map[authorizationv1.ResourceAttributes]right
	// memories holds what was read for the user recently; see recalled.
	memories map[string]*memory
}

// newUser returns the user of a connection.
func newUser(name string, groups []string, config *rest.Config, c client.WithWatch) *User {
	return &User{Name: name, Groups: groups, Config: config, Client: c, watcher: c}
}

// right is one answer about what a user may do.
type right struct {
	allowed bool
	until   time.Time
}

// rightsLast is how long the result of an access review is reused.
const rightsLast = 60 * time.Second

// mostRights bounds how many access reviews are remembered for a user.
const mostRights = 10_000

// May reports whether the user may do something, by a SelfSubjectAccessReview that is remembered for a minute.
func (u *User) May(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	u.mutex.Lock()
	known, is := u.rights[what]
	u.mutex.Unlock()
	if is && time.Now().Before(known.until) {
		return known.allowed, nil
	}
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what},
	}
	if err := u.Client.Create(ctx, review); err != nil {
		return false, err
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.rights == nil || len(u.rights) >= mostRights {
		u.rights = map[authorizationv1.ResourceAttributes]right{}
	}
	u.rights[what] = right{review.Status.Allowed, time.Now().Add(rightsLast)}
	return review.Status.Allowed, nil
}

// may is May for a button: a failed review counts as not allowed.
func (u *User) may(ctx context.Context, verb, group, resource, namespace, name string) bool {
	allowed, err := u.May(ctx, authorizationv1.ResourceAttributes{
		Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name,
	})
	return err == nil && allowed
}
