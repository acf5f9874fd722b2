package main

import (
	"context"
	"net"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/collection"
	"github.com/kyma-project/lifecycle-manager/internal/direct"
	"github.com/kyma-project/lifecycle-manager/internal/playground"
	"github.com/kyma-project/lifecycle-manager/internal/task"
	"github.com/kyma-project/lifecycle-manager/internal/web"
	"github.com/kyma-project/lifecycle-manager/internal/web/assets"
)

// serveDashboard is what `kyma dashboard` does, for the hub of the playground: catalogs and registries may be on loopback there.
func serveDashboard(ctx context.Context, hub *rest.Config, registry string) (playground.Dashboard, error) {
	tasks, err := task.New(task.Options{
		Records: hub, Access: direct.Access{PlainHTTP: true}, Registry: registry,
		Catalogs: collection.Limits{AllowPrivate: true}, Log: logr.Discard(),
	})
	if err != nil {
		return playground.Dashboard{}, err
	}
	server, err := web.New(web.Options{
		Mode: web.ModeLocal, Config: hub, Cluster: "playground", Version: "dev", Assets: assets.Files(),
		Namespaces: []string{"default"}, Tasks: tasks, Log: logr.Discard(),
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
