package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestHealth_HowTheLifecycleManagerStands(t *testing.T) {
	const what = "lifecycle manager"
	for name, c := range map[string]struct {
		is   managerState
		want healthStatus
	}{
		"a running manager is ready": {
			managerState{managerHealth: managerHealth{Ready: true, Message: "2 running"}},
			healthStatus{what, modulestatus.Ready, "2 running"},
		},
		"a manager known not to run is an error": {
			managerState{managerHealth: managerHealth{Message: "0 of 1 running"}},
			healthStatus{what, modulestatus.Error, "0 of 1 running"},
		},
		"a manager that may not be read is unknown": {
			managerState{managerHealth: managerHealth{Message: "it is not known"}, unknown: true},
			healthStatus{what, modulestatus.Unknown, "it is not known"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.is.status()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHealth_WhoMayNotLookIsToldOfNoError(t *testing.T) {
	s := open(t, ModeCluster)
	s.enterAs(s.token("health-nobody", ""))
	is := s.server.managerState(t.Context(), s.currentUser()).status()
	if is.State != modulestatus.Unknown || !strings.Contains(is.Message, "not known") {
		t.Errorf("who may read neither Leases nor the Deployment: %+v", is)
	}
	if health := get[settings](s, "/api/v1/settings").Health; health[1].State != modulestatus.Unknown {
		t.Errorf("the settings: %+v", health)
	}
}

func TestHealth_AClusterThatDoesNotAnswerIsNotSaidToForbid(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	if got := untold(apierrors.NewForbidden(leases, "", errors.New("no"))); !strings.Contains(got, "may not read") {
		t.Error(got)
	}
	if got := untold(apierrors.NewTooManyRequests("busy", 1)); strings.Contains(got, "may not") || !strings.Contains(got, "busy") {
		t.Error(got)
	}
}

func TestHealth_AnAbsentLifecycleManagerIsAnError(t *testing.T) {
	s := open(t, ModeLocal)
	s.enter()
	is := s.server.managerState(t.Context(), s.currentUser()).status()
	if is.State != modulestatus.Error || !strings.Contains(is.Message, "does not run") {
		t.Errorf("who may read everything, where there is none: %+v", is)
	}
}
