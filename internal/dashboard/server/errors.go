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

// Reasons that the server itself gives; those of the cluster go out as they came.
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

// Problem is an error with everything that the body of an answer says: what, where, and what to do about it. It holds no secret.
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

func (p *Problem) Error() string { return p.Message }

// fail returns an error with a status and a reason. The text says what, where and what to do.
func fail(status int, reason, format string, args ...any) error {
	return &Problem{Status: status, Reason: reason, Message: fmt.Errorf(format, args...).Error()}
}

// mayNotRead returns the error for a user who may not read something.
func mayNotRead(u *User, what string) error {
	return fail(http.StatusForbidden, WhyForbidden, "%s may not read %s: ask an administrator of the cluster for permission", u.Name, what)
}

// problemOf says of any error what the answer is:
//
//  1. what a handler decided goes out as it is
//  2. what the cluster refused goes out with its status, reason and text
//  3. what took too long is a timeout; no client reads the response to a canceled request
//  4. a kind that the cluster does not serve was not found
//  5. everything else is the cluster that does not answer
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

// ofStatus translates what an API server said. A status that is none of an error becomes an error of the gateway.
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

// cause returns why a call failed, without the address that was called, in one line.
func cause(err error) string {
	if called, is := errors.AsType[*url.Error](err); is {
		err = called.Err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
