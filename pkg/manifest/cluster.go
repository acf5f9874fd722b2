package manifest

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is a connection to a cluster. Several calls may share one, also at once: it remembers what the cluster serves. Make it by Connect.
type Cluster struct {
	// Config is a copy of the one that it was made with.
	Config *rest.Config
	// Client reads and writes without a cache.
	Client client.Client
	// Dynamic reads and writes objects of any kind.
	Dynamic dynamic.Interface
}

// Connect prepares a connection, without a call. Where config sets no rate limit, none holds: at most eight calls are under way at once.
func Connect(config *rest.Config) (*Cluster, error) { panic("soon") }
