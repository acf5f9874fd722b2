package server

import (
	_ "embed" // the document
	"net/http"
	"sync"

	"sigs.k8s.io/yaml"
)

// document describes the API, for users and programs. It is written by hand; a test keeps it consistent with the routes.
//
//go:embed openapi.yaml
var document []byte

var documentJSON = sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(document) })

func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) {
	text, err := documentJSON()
	if err != nil {
		s.answerProblem(w, r, fail(http.StatusInternalServerError, WhyInternal, "the document cannot be read: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}
