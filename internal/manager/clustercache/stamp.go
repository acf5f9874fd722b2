package clustercache

import (
	"encoding/base64"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// sharedHeaders returns the headers that client-go's round trippers would set on every request, if they never change. Requests that
// have them already are passed on unchanged, so that streams, which hold their requests, share one copy instead of one each.
func sharedHeaders(cfg *rest.Config) http.Header {
	stamp := http.Header{}
	if cfg.UserAgent != "" {
		stamp.Set("User-Agent", cfg.UserAgent)
	}
	switch {
	case cfg.BearerTokenFile != "": // changes: left to client-go, which reads it again
	case cfg.BearerToken != "":
		stamp.Set("Authorization", "Bearer "+cfg.BearerToken)
	case cfg.Username != "" || cfg.Password != "":
		stamp.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(cfg.Username+":"+cfg.Password)))
	}
	who := cfg.Impersonate
	if who.UserName != "" && who.UID == "" && len(who.Groups) == 0 && len(who.Extra) == 0 {
		stamp.Set(transport.ImpersonateUserHeader, who.UserName)
	}
	return stamp
}
