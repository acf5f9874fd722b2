// Package server answers one question: what does the dashboard of Kyma modules show and do, for this user, over HTTP?
//
// It is one server with two modes. On a workstation it works with its user's kubeconfig and listens on loopback; in a cluster
// users log in, and everything that is not in the shared watches is read with their own tokens. Objects in the shared watches are
// shown to users who may list them. Pages never poll: any GET below /api/v1 can be a live query of the event stream.
//
// What it refuses to do: it decides nothing about modules (internal/client/modulestatus and internal/client/kymaedit do), it stores no
// token anywhere but in its memory, and it connects only to the clusters and the configured identity provider.
package server
