// Package hubcmd has the commands of `kyma hub`, for those who run a hub: what it holds goes into files, and from files into a hub.
//
// Non-goals: what is part of a hub and how it is restored, which internal/client/hubcontent decides; installing the manager.
package hubcmd
