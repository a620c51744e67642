package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Shutdown lets no call in any more, waits for those that run until ctx is done, cancels the rest, and ends all
// sessions and streams, in this order. Meanwhile what running calls wait for still gets through, and calls that come are
// refused with 503, unseen. It does not close connections: http.Server.Shutdown does, afterwards.
//
// The error wraps [ErrUnfinished] if calls had to be cancelled. Handlers that do not come back half a second later are
// left behind.
func (h *Handler) Shutdown(ctx context.Context) error {
	idle := h.places.stop()
	cancelled := 0
	select {
	case <-idle:
	case <-ctx.Done():
		cancelled = h.places.cancel(false)
		timer := time.NewTimer(settle)
		defer timer.Stop()
		select {
		case <-idle:
		case <-timer.C:
		}
	}
	h.places.cancel(true)
	list := h.sessions.list()
	for _, s := range list {
		s.close()
	}
	timer := time.NewTimer(settle)
	defer timer.Stop()
	for _, s := range list {
		select {
		case <-s.gone:
		case <-timer.C:
			return unfinished(cmp.Or(cancelled, 1))
		}
	}
	return unfinished(cancelled)
}

func unfinished(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d %w", n, ErrUnfinished)
}

// Serve serves the connections of l until ctx is done, and then stops as [Handler.Shutdown] says, with grace for the
// running calls; 0 is 5 s. A nil server, or one without a handler, serves what [Handler.Mount] does. Times and sizes that
// the server leaves open are filled in: clients have 10 s to send the header of a request, at most 64 KiB of it, and
// connections without requests are closed after two minutes.
//
// It returns nil for such an end, [ErrUnfinished] if calls had to be cancelled, else what broke the server.
func (h *Handler) Serve(ctx context.Context, l net.Listener, server *http.Server, grace time.Duration) error {
	if server == nil {
		server = &http.Server{ReadHeaderTimeout: headerTimeout}
	}
	server.ReadHeaderTimeout = cmp.Or(server.ReadHeaderTimeout, headerTimeout)
	server.IdleTimeout = cmp.Or(server.IdleTimeout, 2*time.Minute)
	server.MaxHeaderBytes = cmp.Or(server.MaxHeaderBytes, 64<<10)
	if server.ErrorLog == nil {
		server.ErrorLog = slog.NewLogLogger(h.opts.Logger.Handler(), slog.LevelDebug)
	}
	if server.Handler == nil {
		mux := http.NewServeMux()
		h.Mount(mux)
		server.Handler = mux
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return errors.Join(fmt.Errorf("serve http: %w", err), h.end(ctx, server, 0))
	case <-ctx.Done():
	}
	err := h.end(ctx, server, cmp.Or(grace, defaultGrace))
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve http: %w", served))
	}
	return err
}

const headerTimeout = 10 * time.Second

// end stops the handler, and then the server under it.
func (h *Handler) end(ctx context.Context, server *http.Server, grace time.Duration) error {
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := h.Shutdown(stop)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle)
	defer cancel()
	if server.Shutdown(last) != nil { // connections of other handlers
		_ = server.Close()
	}
	return err
}
