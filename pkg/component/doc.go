// Package component answers one question: how does a component version get from a developer to everybody who reads it?
//
// It packs component versions out of local content (Version), writes them into archives (Build) and registries (Push), copies them between
// both with their images (Copy), opens and unpacks them (Open, Unpack), starts from what exists (From), signs and verifies them. Archives
// are OCM's Common Transport Format. Descriptors are written by the OCM library, of which this package is the only importer: it is large,
// and programs that only read component versions use pkg/component/descriptor instead. Bytes are moved by oras, so that a version has the
// same digest in every archive and registry, and so that every request goes through one Access: logins, certificates, mirrors, proxies.
//
// What it refuses to do: it never changes a version that is there already unless it is told to (Overwrite), never adds anything to a
// version or an archive that depends on when, where or by whom it was built, never leaves a half-written archive, and takes no
// configuration from the machine it runs on but proxies: no ~/.ocmconfig, no Docker login. Everything comes in through its arguments.
package component
