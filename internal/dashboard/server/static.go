package server

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// noncePlaceholder stands for the nonce in index.html.
const noncePlaceholder = "__NONCE__"

// The icon that the page names, and the path that browsers request for responses that name none, such as those of the API.
const (
	iconFile   = "favicon.svg"
	iconSought = "favicon.ico"
)

// file is one file of the front end, compressed if that makes it smaller.
type file struct {
	kind         string
	data, packed []byte
}

// static holds the front end in memory.
type static struct {
	files map[string]file
	index []byte
}

// readStatic reads the front end. Without one there is only the API.
func readStatic(from fs.FS) (*static, error) {
	s := &static{files: map[string]file{}}
	if from == nil {
		return s, nil
	}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if name == "index.html" {
			s.index = data
			return nil
		}
		s.files[name] = fileOf(name, data)
		return nil
	})
	return s, err
}

func fileOf(name string, data []byte) file {
	f := file{kind: mime.TypeByExtension(path.Ext(name)), data: data}
	if f.kind == "" {
		f.kind = "application/octet-stream"
	}
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = writer.Write(data)
	if err := writer.Close(); err == nil && packed.Len() < len(data)*9/10 {
		f.packed = packed.Bytes()
	}
	return f
}

// serve answers with a file of the front end, and with its page for every other path: the page has routes of its own.
func (s *static) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if f, is := s.files[name]; is {
		f.serve(w, r, strings.HasPrefix(name, "assets/"))
		return
	}
	if _, is := s.files[iconFile]; is && name == iconSought {
		http.Redirect(w, r, "/"+iconFile, http.StatusPermanentRedirect)
		return
	}
	if isFile(name) || len(s.index) == 0 {
		answer(w, http.StatusNotFound, errorBody{Problem{Reason: WhyNotFound, Message: "there is no such file"}})
		return
	}
	nonce, _ := r.Context().Value(keyNonce).(string)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.ReplaceAll(s.index, []byte(noncePlaceholder), []byte(nonce)))
}

// isFile reports whether a path means a file of the front end, existing or not: anything in its folder, and a name with an extension
// beside it. Names of Kymas and modules, which may contain dots, are deeper in the path.
func isFile(name string) bool {
	return strings.HasPrefix(name, "assets/") || !strings.Contains(name, "/") && path.Ext(name) != ""
}

// serve answers with the file. A file with a hash in its name never changes.
func (f *file) serve(w http.ResponseWriter, r *http.Request, hashed bool) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", "no-cache")
	if hashed {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data := f.data
	if f.packed != nil {
		header.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			header.Set("Content-Encoding", "gzip")
			data = f.packed
		}
	}
	_, _ = w.Write(data)
}
