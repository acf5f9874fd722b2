//go:build never

package pkg

import (
	_ "github.com/Masterminds/semver/v3"
	_ "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-containerregistry/pkg/registry"
	_ "github.com/google/go-containerregistry/pkg/v1/tarball"
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "github.com/onsi/gomega/gcustom"
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm"
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm/repositories/ctf"
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm/repositories/ocireg"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sync/singleflight"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/client-go/util/csaupgrade"
	_ "oras.land/oras-go/v2"
	_ "oras.land/oras-go/v2/registry/remote"
	_ "oras.land/oras-go/v2/registry/remote/auth"
	_ "oras.land/oras-go/v2/registry/remote/credentials"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
