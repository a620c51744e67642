package mcpcore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// maxCompletions is how many values a completion tells, as the protocol bounds it.
const maxCompletions = 100

// complete answers what an argument of a prompt, or a variable of a resource's
// address, can begin with. It knows the declarations and [Deps.Known] alone and
// asks nobody.
func (d *Deps) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	all, err := d.completions(req.Params.Ref, req.Params.Argument.Name)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(v string) bool { return !strings.HasPrefix(v, req.Params.Argument.Value) })
	slices.Sort(all)
	all = slices.Compact(all)
	shown := append([]string{}, all[:min(len(all), maxCompletions)]...)
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: shown, Total: len(all), HasMore: len(all) > len(shown),
	}}, nil
}

func (d *Deps) completions(ref *mcp.CompleteReference, name string) ([]string, error) {
	switch ref.Type {
	case "ref/prompt":
		i := slices.IndexFunc(d.Prompts, func(p Prompt) bool { return p.Name == ref.Name })
		if i < 0 || !d.offers(&d.Prompts[i]) {
			return nil, fmt.Errorf("unknown prompt %.100q", ref.Name)
		}
		p, ok := d.Prompts[i].form.input.Property(name)
		if !ok {
			return nil, fmt.Errorf("the prompt %s has no argument %.100q", ref.Name, name)
		}
		return d.values(p.Schema), nil
	case "ref/resource":
		i := slices.IndexFunc(d.Resources, func(r Resource) bool { return r.URI == ref.URI })
		if i < 0 || !d.lists(&d.Resources[i]) {
			return nil, fmt.Errorf("unknown resource %.200q", ref.URI)
		}
		r := &d.Resources[i]
		if !slices.Contains(parseAddress(r.URI).variables(), name) {
			return nil, fmt.Errorf("the address %s has no variable %.100q", r.URI, name)
		}
		if t := d.offered(r.Tool); t != nil {
			p, _ := t.impl.input.Property(name)
			return d.values(p.Schema), nil
		}
		if name == "tool" {
			return d.toolNames(), nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("there is nothing to complete in a %.40q; ask for ref/prompt or ref/resource", ref.Type)
}

// values are those that a place can take, as far as they are known here.
func (d *Deps) values(s *schema.Schema) (all []string) {
	if s.Go == toolNameType {
		return d.toolNames()
	}
	if kind, ok := kindOf(s.Go); ok && kind != discord.KindNothing {
		return d.Known[kind]
	}
	for _, v := range s.Enum {
		all = append(all, fmt.Sprint(v))
	}
	if s.Type == "boolean" {
		all = append(all, "false", "true")
	}
	return all
}
