package blueprint

import (
	"encoding/json"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
)

// derived are the members that follow from others, by where they stand.
var derived = map[string][]string{
	"":                           {"policy_version", "role_order", "bot_boundary", "resolution", "safety"},
	"guild.community":            {"required"},
	"guild.welcome_screen":       {"channel_keys"},
	"roles":                      {"position"},
	"categories":                 {"position"},
	"channels":                   {"position", "default_onboarding", "everyone_sendable"},
	"onboarding":                 {"verification"},
	"automod":                    {"verification"},
	"components_v2":              {"flags", "validate_before_send", "resolve_channel_placeholders_before_send"},
	"components_v2.publications": {"allowed_mentions"},
}

// Plain is the document as canonical JSON without what follows from the rest, as
// people keep it: so a line that is put in between changes no other.
func (d *Document) Plain() json.RawMessage {
	tree, fault := args.Parse(d.JSON())
	if fault != nil {
		panic("blueprint: " + fault.Message) // of JSON that was just written
	}
	strip(tree, "")
	return canon.Append(nil, tree)
}

func strip(v any, at string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			strip(item, at)
		}
	case map[string]any:
		for _, name := range derived[at] {
			delete(v, name)
		}
		for name, inner := range v {
			in := name
			if at != "" {
				in = at + "." + name
			}
			strip(inner, in)
		}
	}
}
