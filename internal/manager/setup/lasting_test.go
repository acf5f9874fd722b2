package setup

import (
	"context"
	"errors"
	"testing"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
)

func emptyManager(t *testing.T) ctrl.Manager {
	t.Helper()
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme: Scheme(), Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// connections stands for the fleet: it records whether it was stopped.
type connections struct{ started, ended chan struct{} }

func (c connections) Start(ctx context.Context) error {
	close(c.started)
	<-ctx.Done()
	close(c.ended)
	return nil
}

func TestConnectionsOutliveTheControllers(t *testing.T) {
	mgr, lasts := emptyManager(t), newLasting()
	open := connections{started: make(chan struct{}), ended: make(chan struct{})}
	ctx, sigterm := context.WithCancel(t.Context())
	controller := manager.RunnableFunc(func(ctx context.Context) error { // one without NeedLeaderElection, as controllers are
		<-open.started
		sigterm()
		<-ctx.Done() // everything that ends before the controllers has ended
		select {
		case <-open.ended:
			t.Error("the connections were ended while a controller worked")
		default:
		}
		return nil
	})
	if err := errors.Join(mgr.Add(lasts.of(open)), mgr.Add(controller)); err != nil {
		t.Fatal(err)
	}
	if err := (endingLast{mgr, lasts}).Start(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-open.ended:
	default:
		t.Error("the connections were not ended with the manager")
	}
}

func TestLasting_WhatOutlivesTheControllersEndsTheManagerWhenItFails(t *testing.T) {
	mgr, lasts := emptyManager(t), newLasting()
	broken := errors.New("it cannot listen")
	if err := mgr.Add(lasts.of(manager.RunnableFunc(func(context.Context) error { return broken }))); err != nil {
		t.Fatal(err)
	}
	if err := (endingLast{mgr, lasts}).Start(t.Context()); !errors.Is(err, broken) {
		t.Errorf("the manager ended with %v", err)
	}
}

// The fleet itself must not be one of the runnables that controller-runtime stops before the controllers.
func TestLasting_TheFleetIsNoRunnableOfTheFirstToEnd(t *testing.T) {
	if _, first := any(clustercache.New(clustercache.Config{Hub: &rest.Config{}})).(manager.LeaderElectionRunnable); first {
		t.Error("the fleet says whether it needs leader election, so that a manager that it is added to ends it first")
	}
}
