// Package kymarelease reports of KymaReleases: which templates are missing, which requirements a release does not meet by itself, and how
// many Kymas name it and are on it. It installs nothing: the Kyma controller reads a release for each Kyma that names it.
package kymarelease
