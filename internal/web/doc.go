// Package web answers one question: what does the dashboard of Kyma modules show and do, for this person, over HTTP?
//
// It is one server with two homes. On somebody's own machine it works with that person's kubeconfig and listens on loopback; in a cluster
// people log in, and everything that is not in the shared watches is called with their own tokens. What is in the shared watches is shown
// to those who may list it. Pages never poll: any GET below /api/v1 can be a live query of the event stream.
//
// What it refuses to do: it decides nothing about modules (internal/view and internal/edit do), it stores no token anywhere but in its
// memory, and it calls nobody but the clusters and the identity provider that it was told.
package web
