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
	// Name and Groups are what the cluster calls the user.
	Name   string
	Groups []string
	// Config and Client reach the hub as the user. They hold the token: never print them.
	Config *rest.Config
	Client client.Client

	// watcher is Client, which can watch, too.
	watcher client.WithWatch

	// renewal is what the login is renewed by, nil where it is not.
	renewal *renewal

	// ended says that the session has, and that nothing is to begin any more with its rights.
	ended atomic.Bool

	mutex  sync.Mutex
	rights map[authorizationv1.ResourceAttributes]right
	// memories are what was read for the user lately; see recalled.
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

// rightsLast is how long an answer about access is believed.
const rightsLast = 60 * time.Second

// mostRights bounds what is remembered about a user.
const mostRights = 10_000

// May reports whether the user may do something: SelfSubjectAccessReview, remembered for a minute.
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

// may is May for a button: what cannot be found out is not allowed.
func (u *User) may(ctx context.Context, verb, group, resource, namespace, name string) bool {
	allowed, err := u.May(ctx, authorizationv1.ResourceAttributes{
		Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name,
	})
	return err == nil && allowed
}
