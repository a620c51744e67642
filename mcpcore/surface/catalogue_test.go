package surface_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
	"github.com/guildwarden/guildwarden/middleware"
)

// shop is a server whose tool and whose live resource fail the test when anything
// reaches them.
func shop(t *testing.T) (*mcp.Server, []mcpcore.Tool) {
	t.Helper()
	tools := []mcpcore.Tool{mcpcore.Define(mcpcore.Tool{
		Name: "sell", Title: "Sell", Doc: "Sells.", Category: "shop", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
	}, func(context.Context, *mcpcore.Call, input) (output, error) {
		t.Error("a call reached the handler")
		return output{}, nil
	})}
	server, err := mcpcore.BuildServer(mcpcore.Deps{
		Name: "shop", Version: "7", Tools: tools, Chain: middleware.Standard(middleware.Options{}),
		Resources: contract(t, tools).Resources(),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.AddResource(&mcp.Resource{URI: "shop://till", Name: "till"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		t.Error("a reading reached the handler")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "42"}}}, nil
	})
	server.AddResource(&mcp.Resource{URI: "shop://hours", Name: "hours"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "9 to 5"}}}, nil
	})
	return server, tools
}

func TestSealedServerReadsWhatIsStaticAlone(t *testing.T) {
	t.Parallel()
	server, _ := shop(t)
	surface.Seal(server, "shop://hours", "shop://leaflets/")
	for _, era := range []string{"2025-06-18", "2026-07-28"} {
		near, far := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "shop://hours"})
		if err != nil || res.Contents[0].Text != "9 to 5" {
			t.Errorf("%s: what is static cannot be read: %v", era, err)
		}
		var first string
		for _, uri := range []string{"shop://till", "shop://nothing", "shop://hours/", "shop://hoursx", "discord://guilds", ""} {
			_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err == nil || !strings.Contains(err.Error(), "CATALOG_ONLY") || first != "" && err.Error() != first {
				t.Errorf("%s: reading %q: %v", era, uri, err)
				continue
			}
			first = err.Error()
		}
		if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: surface.ContractURI + "/no_such_tool"}); err == nil {
			t.Errorf("%s: an unknown tool has an entry", era)
		}
	}
}

func TestCheckCatalogue(t *testing.T) {
	t.Parallel()
	server, tools := shop(t)
	c := contract(t, tools)
	surface.Seal(server, "shop://hours")
	report, err := surface.CheckCatalogue(t.Context(), server, c)
	if err != nil {
		t.Fatal(err)
	}
	if report.Status != "ok" || report.ServerName != "shop" || report.ServerVersion != "7" || report.Tools != 1 || report.Resources != 3 ||
		report.Templates != 1 || report.Manifest != c.Digest() || report.Classes[surface.GuardedWrite] != 1 {
		t.Errorf("%+v", report)
	}
}

// TestCheckCatalogueFindsWhatIsWrong: a check that cannot fail proves nothing.
func TestCheckCatalogueFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	calm := tool[input]("sell", mcpcore.Write, mcpcore.LocalScope, nil)
	other := tool[input]("buy", mcpcore.Write, mcpcore.LocalScope, nil)
	for name, row := range map[string]struct {
		covers []mcpcore.Tool // by the contract that the server gives out
		holds  []mcpcore.Tool // by the one that it is held against
		sealed bool
		add    func(*mcp.Server)
		want   string
	}{
		"a server that is not sealed": {want: "is not refused as everything is", covers: []mcpcore.Tool{calm}, holds: []mcpcore.Tool{calm}},
		"a tool without an entry":     {[]mcpcore.Tool{other}, []mcpcore.Tool{other}, true, nil, `tool "sell": it has no entry in the access contract`},
		"a tool that is not listed":   {[]mcpcore.Tool{calm, other}, []mcpcore.Tool{calm, other}, true, nil, "1 tools are listed, the access contract covers 2"},
		"another contract":            {[]mcpcore.Tool{calm}, []mcpcore.Tool{tool[input]("sell", mcpcore.Destroy, mcpcore.LocalScope, nil)}, true, nil, "is not the access contract of these tools"},
		"a definition with gaps": {[]mcpcore.Tool{calm}, []mcpcore.Tool{calm}, true, func(s *mcp.Server) {
			s.AddTool(&mcp.Tool{Name: "gaps", InputSchema: map[string]any{"type": "object"}}, nil)
		}, `tool "gaps": its definition lacks a description`},
		"an answer of another layer": {[]mcpcore.Tool{calm}, []mcpcore.Tool{calm}, true, func(s *mcp.Server) {
			s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					if r, ok := req.(*mcp.CallToolRequest); ok && r.Params.Name == "sell" {
						return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sold"}}}, nil
					}
					return next(ctx, method, req)
				}
			})
		}, `a call of "sell" is answered otherwise than others`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := mcpcore.BuildServer(mcpcore.Deps{Tools: []mcpcore.Tool{calm}, Chain: middleware.Standard(middleware.Options{}), Resources: contract(t, row.covers).Resources()})
			if err != nil {
				t.Fatal(err)
			}
			if row.sealed {
				surface.Seal(server)
			}
			if row.add != nil {
				row.add(server)
			}
			report, err := surface.CheckCatalogue(t.Context(), server, contract(t, row.holds))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the check says %v, want %s", err, row.want)
			}
			if report.Status != "" {
				t.Errorf("a failed check reports %+v", report)
			}
		})
	}
}
