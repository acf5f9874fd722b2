// Package hubcmd has the commands of `kyma hub`, for those who run a hub: what it holds goes into files, and from files into a hub.
package hubcmd
