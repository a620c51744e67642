package discordtools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// comparedSettings are those that are compared where both sides tell them.
var comparedSettings = []string{
	"nsfw", "topic", "rate_limit_per_user", "bitrate", "user_limit", "rtc_region", "video_quality_mode", "default_auto_archive_duration",
	"default_thread_rate_limit_per_user", "default_forum_layout", "default_sort_order", "default_reaction_emoji", "available_tags", "flags",
}

// settingsAgainst names the settings that differ and counts those that are the
// same.
func (c *comparedChannel) settingsAgainst(other *comparedChannel) (differing []string, equal int) {
	for _, name := range comparedSettings {
		a, here := c.settings[name]
		b, there := other.settings[name]
		switch {
		case !here || !there:
		case settingOf(name, a) == settingOf(name, b):
			equal++
		default:
			differing = append(differing, name)
		}
	}
	return differing, equal
}

// settingOf is a setting in a form in which equal ones are equal texts. Nothing,
// null, zero and an empty list are one.
func settingOf(name string, raw json.RawMessage) string {
	switch name {
	case "default_reaction_emoji":
		var e comparedEmoji
		_ = json.Unmarshal(raw, &e) // what is none is the same as nothing
		return e.text()
	case "available_tags":
		var tags []struct {
			Name      string `json:"name"`
			Moderated bool   `json:"moderated"`
			comparedEmoji
		}
		_ = json.Unmarshal(raw, &tags)
		all := make([]string, len(tags))
		for i, t := range tags {
			all[i] = fmt.Sprintf("%q %t %s", t.Name, t.Moderated, t.text())
		}
		slices.Sort(all)
		return strings.Join(all, ",")
	}
	var v any
	_ = json.Unmarshal(raw, &v)
	plain, _ := json.Marshal(v) // the same text for the same value
	switch s := string(plain); s {
	case "null", "0", `""`, "false", "[]":
		return ""
	default:
		return s
	}
}

// comparedEmoji is an emoji of a tag or a forum. The id 0 is none.
type comparedEmoji struct {
	ID   localID `json:"emoji_id"`
	Name *string `json:"emoji_name"`
}

func (e comparedEmoji) text() string {
	if e.ID != "" && e.ID != "0" {
		return string(e.ID)
	}
	if e.Name == nil {
		return ""
	}
	return *e.Name
}
