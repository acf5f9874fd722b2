package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// line is a network line that can be cut.
type line struct {
	mutex sync.Mutex
	dead  bool
	open  []net.Conn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.dead {
		return nil, errors.New("the line is dead")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		l.open = append(l.open, conn)
	}
	return conn, err
}

func (l *line) cut(dead bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.dead = dead
	for _, conn := range l.open {
		_ = conn.Close()
	}
	l.open = nil
}

func TestStale_WhatIsOldIsSaidToBeOld(t *testing.T) {
	l := &line{}
	s := open(t, ModeLocal, func(o *Options) {
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Dial = l.dial
	})
	s.make(namespace("old"))
	s.kyma("old", "one", v1beta2.StateReady)
	s.enter()
	old := func() bool {
		r := s.do(http.MethodGet, "/api/v1/kymas?namespace=old", "")
		if r.status != http.StatusOK {
			return false
		}
		return slices.ContainsFunc(get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=old").Unread, func(u Unread) bool {
			return u.Kind == "Kyma."+ownGroup && u.Reason == modulestatus.WhyReadFailed
		})
	}
	if old() {
		t.Error("what is fresh is said to be old")
	}
	l.cut(true)
	eventually(t, 20*time.Second, "it is said that the Kymas are old", old)
	l.cut(false)
	eventually(t, 60*time.Second, "they are fresh again", func() bool { return !old() })
}
