//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// The node's network has no route to the outside. Sockets in the file system do not belong to a network, so one process on each side
// forwards connections through them.

// network returns the network of an address: a path, or host:port.
func network(end string) string {
	if strings.Contains(end, "/") {
		return "unix"
	}
	return "tcp"
}

// forward accepts connections at one address and forwards them to the other, until the program ends. It returns its listening address.
func forward(ctx context.Context, from, to string) (string, error) {
	if network(from) == "unix" {
		if err := os.Remove(from); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, network(from), from)
	if err != nil {
		return "", fmt.Errorf("cannot listen for %s: %w", to, err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go hand(ctx, connection, to)
		}
	}()
	return listener.Addr().String(), nil
}

// hand copies in both directions until both have ended.
func hand(ctx context.Context, from net.Conn, to string) {
	defer closeQuietly(from)
	var dialer net.Dialer
	other, err := dialer.DialContext(ctx, network(to), to)
	if err != nil {
		return // the client sees a closed connection, as on any broken network
	}
	defer closeQuietly(other)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pipe(other, from)
	}()
	pipe(from, other)
	<-done
}

// pipe copies in one direction and passes on the end of the stream.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func closeQuietly(connection net.Conn) { _ = connection.Close() }
