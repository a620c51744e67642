package discordtools

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// BlueprintConn is the way of package blueprint to Discord over a connection.
func BlueprintConn(rest REST) blueprint.Conn { return restConn{rest} }

type restConn struct{ rest REST }

// Do implements [blueprint.Conn].
func (c restConn) Do(ctx context.Context, r blueprint.Request) (json.RawMessage, error) {
	reply, err := c.rest.Do(ctx, blueprintRequest(r))
	if err != nil {
		return nil, blueprintError(r, err)
	}
	return reply.Body, nil
}

func blueprintRequest(r blueprint.Request) Request {
	method, template, _ := strings.Cut(r.Route, " ")
	query := r.Query
	if query == nil {
		query = url.Values{}
	}
	return Request{Method: method, Route: template, Path: r.Path, Query: query, Body: r.Body, Reason: r.Reason, Repeatable: method == http.MethodGet}
}

// blueprintError says of a write whether it was certainly not carried out.
func blueprintError(r blueprint.Request, err error) error {
	if !strings.HasPrefix(r.Route, http.MethodGet+" ") && Refused(err) {
		return mcpcore.NotDone(err)
	}
	return err
}

// callConn is the way of one call: only routes that its tool declares.
type callConn struct{ api *api }

// Do implements [blueprint.Conn].
func (c callConn) Do(ctx context.Context, r blueprint.Request) (json.RawMessage, error) {
	reply, err := c.api.deliver(ctx, blueprintRequest(r))
	if err != nil {
		return nil, blueprintError(r, err)
	}
	return reply.Body, nil
}
