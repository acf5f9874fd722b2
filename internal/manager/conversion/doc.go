// Package conversion lets users read and write Kymas and Manifests as v1alpha1, while they are stored as v1beta2.
//
// It serves the conversion that api/v1alpha1 defines to the hub's API server, over HTTPS. It creates and renews its own certificate, keeps
// it in a Secret that all replicas share, and announces it to the API server in the two CustomResourceDefinitions before it is used. Every
// replica serves conversions and maintains the certificate; each step is one write with optimistic locking.
//
// Non-goals: it does not convert anything that it cannot convert back, change a definition that does not list v1alpha1, or write a
// definition that is already up to date. It does not authenticate clients: a response depends on the request only.
package conversion
