package main

import (
	"encoding/json"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// A health is what keeps changes from being stored for good, which nats-server does not tell.
type health struct {
	full   atomic.Bool // the disk is nearly full: changes are refused
	closed atomic.Bool // the store was restored, or has lost something: changes are refused but those of a repair
	unfit  atomic.Bool // a stream may lose what was acknowledged, when it was looked at last
}

// problem returns why changes are refused or may be lost, "" if they are not.
func (h *health) problem() string {
	switch {
	case h.full.Load():
		return "disk_full"
	case h.closed.Load():
		return "engine_restored"
	case h.unfit.Load():
		return "engine_unsafe"
	}
	return ""
}

// serveMonitor serves the pages of nats-server at a listener. /healthz has status 503 while there is
// a problem; look looks at the streams first.
func (h *health) serveMonitor(l net.Listener, pages http.Handler, look func()) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		look()
		problem := h.problem()
		if problem == "" {
			pages.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(map[string]string{"status": "unavailable", "error": problem})
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return s
}
