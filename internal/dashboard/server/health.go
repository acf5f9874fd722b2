package server

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// How the lifecycle manager is found.
const (
	managerComponent = "app.kubernetes.io/component"
	managerReplicas  = "klm-shards"
	managerReplica   = "klm-replica-"
	managerName      = "klm-controller-manager"
	// heartbeat is the maximum age of the last heartbeat of a replica.
	heartbeat = time.Minute
)

// managerState is what is known of the lifecycle manager.
type managerState struct {
	managerHealth
	version string
	// unknown reports that the health could not be determined, which is no error of the lifecycle manager.
	unknown bool
}

// status returns the state as a line of the settings:
//
//  1. Ready if the lifecycle manager runs
//  2. Unknown if that could not be read
//  3. Error if it is known not to run
func (is managerState) status() healthStatus {
	state := modulestatus.Error
	switch {
	case is.Ready:
		state = modulestatus.Ready
	case is.unknown:
		state = modulestatus.Unknown
	}
	return healthStatus{What: "lifecycle manager", State: state, Message: is.Message}
}

func (s *Server) manager(ctx context.Context, u *User) managerHealth {
	return s.managerState(ctx, u).managerHealth
}

// managerState reports whether the lifecycle manager runs: by the heartbeats of its replicas, wherever they run, and otherwise by its
// Deployment. It is read as the requesting user.
func (s *Server) managerState(ctx context.Context, u *User) managerState {
	beyond(ctx)
	is, err := recalled(ctx, u, "manager", func(ctx context.Context) (managerState, error) {
		alive, leases := s.replicas(ctx, u)
		deployed, found := deployment(ctx, u)
		switch {
		case alive > 0:
			deployed.Ready, deployed.Message = true, fmt.Sprintf("%d running", alive)
		case found:
		case leases == nil:
			deployed.Message = "the lifecycle manager does not run: nothing changes until it does"
		default:
			deployed.unknown, deployed.Message = true, "it is not known whether the lifecycle manager runs: "+untold(leases)
		}
		return deployed, nil
	})
	if err != nil {
		is.unknown, is.Message = true, problemOf(err).Message
	}
	return is
}

// untold returns why the health is unknown: missing permissions, or a cluster that does not respond.
func untold(err error) string {
	if apierrors.IsForbidden(err) {
		return "you may not read its Leases and Deployment"
	}
	return problemOf(err).Message
}

// replicas counts the replicas with a recent heartbeat.
func (s *Server) replicas(ctx context.Context, u *User) (alive int, err error) {
	var leases coordinationv1.LeaseList
	labels := client.MatchingLabels{managerComponent: managerReplicas}
	if err := u.Client.List(ctx, &leases, client.InNamespace(v1beta2.DefaultNamespace), labels); err != nil {
		return 0, err
	}
	for i := range leases.Items {
		renewed := leases.Items[i].Spec.RenewTime
		if strings.HasPrefix(leases.Items[i].Name, managerReplica) && renewed != nil && s.options.Now().Sub(renewed.Time) < heartbeat {
			alive++
		}
	}
	return alive, nil
}

// deployment returns the state of the lifecycle manager's Deployment.
func deployment(ctx context.Context, u *User) (is managerState, found bool) {
	var d appsv1.Deployment
	if err := u.Client.Get(ctx, client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: managerName}, &d); err != nil {
		return is, false
	}
	is.Ready = d.Status.AvailableReplicas > 0
	is.Message = fmt.Sprintf("%d of %d running", d.Status.AvailableReplicas, d.Status.Replicas)
	if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
		is.version = cmp.Or(d.Labels["app.kubernetes.io/version"], modulestatus.Tag(containers[0].Image))
	}
	return is, true
}
