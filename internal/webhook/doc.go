// Package webhook answers: how do people read and write Kymas and Manifests as v1alpha1, while v1beta2 is what is stored?
//
// It serves the conversion that api/v1alpha1 decides to the hub's API server, over HTTPS. The certificate is its own: it is made and
// renewed here, kept in a Secret that all replicas share, and announced to the API server in the two CustomResourceDefinitions before it
// is used. Every replica serves and looks after it; each step is one write that fails when somebody else was faster.
//
// It refuses to convert what it cannot give back, to touch a definition that does not list v1alpha1, and to write a definition that says
// already what it should say. It asks nobody who they are: what it answers is a function of what it is sent.
package webhook
