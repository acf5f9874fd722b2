package main

import (
	"context"
	"net"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server/assets"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

// serveDashboard does what `kyma dashboard` does, for the hub of the playground: catalogs and registries may be on loopback there.
func serveDashboard(ctx context.Context, hub *rest.Config, registry string) (playground.Dashboard, error) {
	tasks, err := operations.New(operations.Options{
		Records: hub, Access: directinstall.Access{PlainHTTP: true}, Registry: registry,
		Catalogs: communitycatalog.Limits{AllowPrivate: true}, Log: logr.Discard(),
	})
	if err != nil {
		return playground.Dashboard{}, err
	}
	server, err := server.New(server.Options{
		Mode: server.ModeLocal, Config: hub, Cluster: "playground", Version: "dev", Assets: assets.Files(),
		Namespaces: []string{"default"}, Tasks: tasks, Log: logr.Discard(),
		Contents: func(hub versioncontent.Place) *versioncontent.Loader {
			return &versioncontent.Loader{Access: directinstall.Access{PlainHTTP: true}, Registry: registry, Hub: hub}
		},
	})
	if err != nil {
		return playground.Dashboard{}, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return playground.Dashboard{}, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	return playground.Dashboard{
		Link: "http://" + listener.Addr().String() + "/#code=" + server.Code(),
		Stop: func() error { stop(); return <-ended },
	}, nil
}
