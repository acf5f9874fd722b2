package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons that the server itself gives; those of the cluster are passed on unchanged.
const (
	WhyUnauthorized = "Unauthorized"
	WhyForbidden    = "Forbidden"
	WhyNotFound     = "NotFound"
	WhyInvalid      = "Invalid"
	WhyRefused      = "Refused"
	WhyConflict     = "Conflict"
	WhyTooMany      = "TooManyRequests"
	WhyTooLarge     = "TooLarge"
	WhyUnreachable  = "ClusterUnreachable"
	WhyTimeout      = "Timeout"
	WhyInternal     = "Internal"
)

// Problem is an error with everything that a response body reports: what is wrong, where, and what to do about it. It holds no secret.
type Problem struct {
	Status  int      `json:"-"`
	Reason  string   `json:"reason"`
	Message string   `json:"message"`
	Details []Detail `json:"details,omitempty"`
}

// Detail is one part of a Problem, such as a field that is wrong.
type Detail struct {
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Error returns the message.
func (p *Problem) Error() string { return p.Message }

// fail returns an error with a status and a reason. The text names what is wrong, where, and what to do.
func fail(status int, reason, format string, args ...any) error {
	return &Problem{Status: status, Reason: reason, Message: fmt.Errorf(format, args...).Error()}
}

// mayNotRead returns the error for a user who may not read something.
func mayNotRead(u *User, what string) error {
	return fail(http.StatusForbidden, WhyForbidden, "%s may not read %s: ask an administrator of the cluster for permission", u.Name, what)
}

// problemOf converts any error into the answer:
//
//  1. a Problem of a handler is returned unchanged
//  2. an error of the cluster keeps its status, reason and text
//  3. an exceeded deadline is a timeout; no client reads the response to a canceled request
//  4. a kind that the cluster does not serve was not found
//  5. anything else means that the cluster does not answer
func problemOf(err error) *Problem {
	var known *Problem
	var refused apierrors.APIStatus
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		return ofStatus(refused.Status())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Problem{Status: http.StatusGatewayTimeout, Reason: WhyTimeout, Message: "the cluster took too long to answer: try again"}
	case meta.IsNoMatchError(err):
		return &Problem{Status: http.StatusNotFound, Reason: WhyNotFound, Message: "the cluster does not serve this kind: " + err.Error()}
	}
	return &Problem{
		Status: http.StatusBadGateway, Reason: WhyUnreachable,
		Message: "the cluster does not answer: " + cause(err) + "; check that it runs and can be reached",
	}
}

// ofStatus translates the status of an API server. A status that is no error becomes a gateway error.
func ofStatus(status metav1.Status) *Problem {
	p := &Problem{Status: int(status.Code), Reason: string(status.Reason), Message: status.Message}
	if p.Status < http.StatusBadRequest || p.Status > 599 {
		p.Status = http.StatusBadGateway
	}
	if p.Reason == "" {
		p.Reason = strings.ReplaceAll(http.StatusText(p.Status), " ", "")
	}
	if p.Status == http.StatusUnauthorized {
		p.Message = "the cluster no longer accepts this login: log in again"
	}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			p.Details = append(p.Details, Detail{Field: cause.Field, Message: cause.Message})
		}
	}
	return p
}

// cause returns why a call failed, in one line and without the address that was called.
func cause(err error) string {
	if called, is := errors.AsType[*url.Error](err); is {
		err = called.Err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
