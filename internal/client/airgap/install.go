package airgap

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// imageLine is the line of the manager's image in install.yaml: it has the name of the image of a release, wherever that was published.
	imageLine = regexp.MustCompile(`(?m)^(\s*(?:- )?image: )["']?((?:\S+/)?` + ManagerImage + `[:@][^\s"']+)["']?$`)
	// firstArgument is the line of the manager's first argument, which every installation has.
	firstArgument = regexp.MustCompile(`(?m)^(\s*- )--leader-elect$`)
	// registryArgument is an argument about the registry of the modules.
	registryArgument = regexp.MustCompile(`(?m)^\s*- --(oci-registry-host|modules-repository-subpath)=.*\n`)
)

// Rewrite returns an install.yaml that takes the manager's image from another place, and the modules from a registry: host[:port] with
// http:// in front if it has no TLS, and the path below it.
func Rewrite(installation []byte, image, registry, subPath string) ([]byte, error) {
	text := string(installation)
	if images, arguments := len(imageLine.FindAllString(text, -1)), len(firstArgument.FindAllString(text, -1)); images != 1 || arguments != 1 {
		return nil, fmt.Errorf("%s has %d images of the manager and %d lists of its arguments, and one of each is rewritten",
			installFile, images, arguments)
	}
	text = registryArgument.ReplaceAllString(text, "")
	text = imageLine.ReplaceAllStringFunc(text, func(line string) string {
		return imageLine.FindStringSubmatch(line)[1] + image
	})
	added := []string{"--oci-registry-host=" + registry}
	if subPath != "" {
		added = append(added, "--modules-repository-subpath="+subPath)
	}
	return []byte(firstArgument.ReplaceAllStringFunc(text, func(line string) string {
		indent := firstArgument.FindStringSubmatch(line)[1]
		return line + "\n" + indent + strings.Join(added, "\n"+indent)
	})), nil
}
