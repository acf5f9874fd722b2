// Package conversion answers: how do users read and write Kymas and Manifests as v1alpha1, while v1beta2 is what is stored?
//
// It serves the conversion that api/v1alpha1 decides to the hub's API server, over HTTPS. The certificate is its own: it is made and
// renewed here, kept in a Secret that all replicas share, and announced to the API server in the two CustomResourceDefinitions before it
// is used. Every replica serves and looks after it; each step is one write with optimistic locking.
//
// Non-goals: it does not convert what it cannot convert back, touch a definition that does not list v1alpha1, or write a definition that
// is up to date already. It does not authenticate clients: a response depends on the request only.
package conversion
