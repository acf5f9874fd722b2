// Package registryauth answers one question: how does this user log in to a registry?
//
// Flags take precedence over docker's config and credential helpers, and these over anonymous access. A login from flags is only for the
// registries that the command names: images of a component may be stored elsewhere, and the operator of that registry must not see it. An
// entry of the docker config without a user, a password or a token is no login.
//
// Non-goals: it never prompts (internal/cli/console does), stores no login, sends none anywhere by itself, and writes no secret into an
// error.
package registryauth
