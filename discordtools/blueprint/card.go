package blueprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// A publication carries a line by which the message is known again, small print
// at the end of its first text. It names the publication's key.
const (
	markPrefix = "\n-# guildwarden · "
	markRoom   = len(markPrefix) + 64
	maxText    = 4000 // of all texts of a message
)

var (
	placeholder = regexp.MustCompile(`<#\{\{channel:([a-z][a-z0-9_]{0,63})\}\}>`)
	mark        = regexp.MustCompile(`\n-# guildwarden · ([a-z][a-z0-9_]{0,63})$`)
	mention     = regexp.MustCompile(`<#([0-9]{17,20})>`)
)

// texts visits the text displays of a layout, outermost first. change answers
// the text's new value.
func texts(tree any, change func(text string) string) {
	switch v := tree.(type) {
	case []any:
		for _, item := range v {
			texts(item, change)
		}
	case map[string]any:
		if n, _ := v["type"].(json.Number); n == "10" {
			if s, ok := v["content"].(string); ok {
				v["content"] = change(s)
			}
		}
		texts(v["components"], change)
	}
}

// layoutTree is a layout as a tree, nil for what is none.
func layoutTree(parts []json.RawMessage) []any {
	raw := append(append([]byte(`{"c":[`), bytes.Join(rawBytes(parts), []byte(","))...), "]}"...)
	tree, fault := args.Parse(raw)
	if fault != nil {
		return nil
	}
	list, _ := tree["c"].([]any)
	return list
}

func rawBytes(parts []json.RawMessage) [][]byte {
	all := make([][]byte, len(parts))
	for i, p := range parts {
		all[i] = p
	}
	return all
}

// placeholders are the keys of channels that a layout's texts name.
func placeholders(parts []json.RawMessage) (keys []Symbol) {
	texts(layoutTree(parts), func(s string) string {
		for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
			keys = append(keys, Symbol(m[1]))
		}
		return s
	})
	return keys
}

// markable reports whether a layout has a text that the mark fits into.
func markable(parts []json.RawMessage) bool {
	size, found := 0, false
	texts(layoutTree(parts), func(s string) string {
		found = true
		size += utf8.RuneCountInString(s)
		return s
	})
	return found && size+markRoom <= maxText
}

// card is the layout that a publication sends: with its mark, and with channels
// in the places of their keys. It is nil while a channel is not there yet.
func (p *Publication) card(channels map[Symbol]string) json.RawMessage {
	tree := layoutTree(p.Components)
	missing, first := false, true
	texts(tree, func(s string) string {
		s = placeholder.ReplaceAllStringFunc(s, func(found string) string {
			id := channels[Symbol(placeholder.FindStringSubmatch(found)[1])]
			missing = missing || id == ""
			return "<#" + id + ">"
		})
		if first {
			s, first = s+markPrefix+string(p.Key), false
		}
		return s
	})
	if missing {
		return nil
	}
	return canon.Append(nil, tree)
}

// marked is the key in a layout's mark, "" for none.
func marked(tree []any) (key Symbol) {
	first := true
	texts(tree, func(s string) string {
		if m := mark.FindStringSubmatch(s); first && m != nil {
			key = Symbol(m[1])
		}
		first = false
		return s
	})
	return key
}

// cardDigest is the digest of a layout without what Discord adds to one: ids of
// components and members that say nothing.
func cardDigest(tree []any) string { return digest(canon.Append(nil, bare(any(tree)))) }

func bare(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = bare(item)
		}
		return all
	case map[string]any:
		kept := map[string]any{}
		for k, item := range v {
			if k == "id" || item == nil || item == false || k == "content_scan_version" || k == "loading_state" || k == "proxy_url" {
				continue
			}
			if list, ok := item.([]any); ok && len(list) == 0 {
				continue
			}
			kept[k] = bare(item)
		}
		// Discord tells these defaults of what was sent without them.
		if kept["type"] == json.Number("14") && kept["spacing"] == json.Number("1") {
			delete(kept, "spacing")
		}
		if kept["type"] == json.Number("14") && kept["divider"] == true {
			delete(kept, "divider")
		}
		return kept
	}
	return v
}

// unmarked is a marked layout as a document has it: without its mark, and with
// keys in the places of channels.
func unmarked(tree []any, channels map[string]Symbol) []json.RawMessage {
	first := true
	texts(tree, func(s string) string {
		if first {
			s, first = mark.ReplaceAllString(s, ""), false
		}
		return mention.ReplaceAllStringFunc(s, func(found string) string {
			if key := channels[strings.Trim(found, "<#>")]; key != "" {
				return "<#{{channel:" + string(key) + "}}>"
			}
			return found
		})
	})
	var parts []json.RawMessage
	for _, part := range tree {
		parts = append(parts, canon.Append(nil, bare(part)))
	}
	return parts
}

// nonce is what Discord knows a publication by for some minutes, so that a
// message whose answer was lost is not sent twice.
func nonce(guild discord.GuildID, bot discord.UserID, channel, key string, card []byte) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(guild), string(bot), channel, key, string(card)}, "\x00")))
	return "gwb" + hex.EncodeToString(sum[:])[:22]
}
