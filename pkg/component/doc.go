// Package component builds, publishes, copies, signs and verifies OCM component versions.
//
// It packs component versions from local content (Version), writes them into archives (Build) and registries (Push), copies them between
// both with their images (Copy), opens and unpacks them (Open, Unpack), starts from existing ones (From), signs and verifies them. Archives
// are OCM's Common Transport Format. Descriptors are written by the OCM library, of which this package is the only importer: it is large,
// and programs that only read component versions use pkg/component/descriptor instead. Bytes are moved by oras, so that a version has the
// same digest in every archive and registry, and so that every request uses one Access: logins, certificates, mirrors, proxies.
//
// Non-goals: the package never changes an existing version unless told to (Overwrite), never makes a version or an archive depend on when,
// where or by whom it was built, never leaves a half-written archive, and takes no configuration from the machine that it runs on except
// proxies: no ~/.ocmconfig, no Docker login. All configuration comes through its arguments.
package component
