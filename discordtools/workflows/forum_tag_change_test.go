package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	bugSent    = `{"id":"1200000000000000331","name":"Bug","moderated":false,"emoji_id":null,"emoji_name":"🐛"}`
	ideaSent   = `{"id":"1200000000000000332","name":"Idea","moderated":false,"emoji_id":null,"emoji_name":"💡"}`
	solvedSent = `{"id":"1200000000000000333","name":"Solved","moderated":true,"emoji_id":null,"emoji_name":null}`
)

// tagging makes a tag of help, with an emoji of the guild's.
func tagging() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "forum-tag-change", Plan: "plan_forum_tag_change", Execute: "execute_forum_tag_change",
			Args: inHelp(`"action":"create","name":" canary-tag ","moderated":true,"emoji":"1200000000000000401","auditReason":"canary-reason"`),
			Sends: []string{`PATCH /channels/1200000000000000315 {"available_tags":[` + bugSent + `,` + ideaSent + `,` + solvedSent +
				`,{"name":"canary-tag","moderated":true,"emoji_id":"1200000000000000401","emoji_name":null}]}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoHelp)}}},
			Secrets: []string{"canary", "Lighthouse", "help"},
		},
		Route: "PATCH /channels/{channel_id}", ReadBack: "GET /channels/{channel_id}", Skip: 8,
		Change: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) { c.Tags[0].Name = "Defect" })
		},
		Settle: addTag(sandbox.Tag{Name: "canary-tag", Moderated: true, Emoji: &sandbox.EmojiRef{ID: sandbox.DemoEmoji, Name: "lighthouse"}}),
	}
}

func addTag(tag sandbox.Tag) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		tag.ID = "1200000000000000334"
		d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) { c.Tags = append(c.Tags, tag) })
	}
}

func TestForumTagChange(t *testing.T) {
	t.Parallel()
	s := tagging()
	const bug = `"tagId":"1200000000000000331"`
	wrong := func(name, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: inHelp(more)}
	}
	plan := func(reason, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Code: mcpcore.CodePlanRefused, Reason: reason, Args: inHelp(more)}
	}
	lacks := func(p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "without " + p.String(), Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoHelp, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: p})
		})}
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "a text channel", Code: mcpcore.CodePlanRefused, Reason: "no-forum", Policy: permits(s.Workflow, "channels", string(sandbox.DemoGeneral)),
			Args: in(sandbox.DemoGeneral, `"action":"create","name":"x"`)},
		blocked("full", func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) {
				for i := range 17 {
					c.Tags = append(c.Tags, sandbox.Tag{ID: discord.TagID(fmt.Sprint(1200000000000000900 + i)), Name: fmt.Sprint("tag ", i)})
				}
			})
		}),
		blocked("name-taken", addTag(sandbox.Tag{Name: "canary-tag"})),
		{Name: "a name that another has", Code: mcpcore.CodePlanRefused, Reason: "name-taken", Args: inHelp(`"action":"update-metadata",` + bug + `,"name":"Idea"`)},
		plan("tag-missing", `"action":"delete","tagId":"1200000000000000339"`),
		plan("emoji-missing", `"action":"create","name":"x","emoji":"1200000000000000499"`),
		wrong("nothing to change", `"action":"update-metadata",`+bug), wrong("a deletion with a name", `"action":"delete",`+bug+`,"name":"x"`),
		wrong("a new tag with an id", `"action":"create",`+bug+`,"name":"x"`), wrong("no tag", `"action":"delete"`),
		wrong("no name", `"action":"create","emoji":"🐛"`), wrong("a name of spaces", `"action":"create","name":" "`),
		wrong("a long name", `"action":"create","name":"a name of more than twenty"`),
		lacks(discord.ViewChannel), lacks(discord.ManageChannels),
	}
	s.run(t)
}

func TestForumTags(t *testing.T) {
	t.Parallel()
	const help, bug = "PATCH /channels/1200000000000000315 ", `"tagId":"1200000000000000331",`
	s := tagging()
	s.writes(t, inHelp(`"action":"create","name":"x"`),
		help+`{"available_tags":[`+bugSent+`,`+ideaSent+`,`+solvedSent+`,{"name":"x","moderated":false,"emoji_id":null,"emoji_name":null}]}`)
	s.writes(t, inHelp(`"action":"update-metadata",`+bug+`"name":"Defect","moderated":true,"emoji":""`),
		help+`{"available_tags":[{"id":"1200000000000000331","name":"Defect","moderated":true,"emoji_id":null,"emoji_name":null},`+ideaSent+`,`+solvedSent+`]}`)
	s.writes(t, inHelp(`"action":"update-metadata",`+bug+`"emoji":"🐞"`),
		help+`{"available_tags":[{"id":"1200000000000000331","name":"Bug","moderated":false,"emoji_id":null,"emoji_name":"🐞"},`+ideaSent+`,`+solvedSent+`]}`)
	s.writes(t, inHelp(`"action":"delete",`+bug[:len(bug)-1]), help+`{"available_tags":[`+ideaSent+`,`+solvedSent+`]}`)
	s.Args = inHelp(`"action":"update-metadata",` + bug + `"name":"Bug","moderated":false,"emoji":"🐛"`)
	s.ends(t, "as it is", "", "already-current", "")
}

// What of a tag is not known here would be lost by writing the tags again. A post
// loses nothing.
func TestForumTagWithMoreThanIsKnown(t *testing.T) {
	t.Parallel()
	s := tagging()
	const from, to = `"name":"Bug"`, `"name":"Bug","weight":3`
	s.answered(s.ReadBack, from, to).ends(t, "a change", mcpcore.CodePlanRefused, "", "")
	if told := s.answered(s.ReadBack, from, to).reads(t, "audit_forum_tags", fmt.Sprintf(`{"channelId":"%s"}`, sandbox.DemoHelp)); told["unknownFields"] != true {
		t.Errorf("the audit tells %v", told)
	}
	s.answered(s.ReadBack, `"name":"Bug"`, `"name":""`).ends(t, "a tag without a name", mcpcore.CodeAccessUnknown, "", "")
	forumPosting().answered(s.ReadBack, from, to).ends(t, "a post", "", "completed", mcpcore.StatusCompleted)
}

func TestForumTagThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := tagging()
	for name, row := range map[string][3]string{
		"another channel":        {s.Route, `"id":"1200000000000000315"`, `"id":"1200000000000000314"`},
		"another name":           {s.Route, `canary-tag`, `else`},
		"another's name":         {s.Route, `"Bug"`, `"Defect"`},
		"another's id":           {s.Route, `1200000000000000331`, `1200000000000000339`},
		"another name read back": {s.ReadBack, `canary-tag`, `else`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.after(s.ReadBack, `"Bug"`, `"Defect"`).drifts(t, "tags")
	s.after(s.ReadBack, `1200000000000000331`, `1200000000000000339`).drifts(t, "tags")
	remove := tagging()
	remove.Args = inHelp(`"action":"delete","tagId":"1200000000000000331"`)
	remove.after(s.ReadBack, `1200000000000000332`, `1200000000000000331`).ends(t, "still there", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
}

func TestForumTagAudit(t *testing.T) {
	t.Parallel()
	s := tagging()
	told := s.reads(t, "audit_forum_tags", fmt.Sprintf(`{"channelId":"%s"}`, sandbox.DemoHelp))
	if tags, _ := told["tags"].([]any); len(tags) != 3 || told["limit"] != 20.0 || told["requiresTag"] != true || told["mayChange"] != true {
		t.Errorf("it tells %v", told)
	}
	s.Before = func(d *sandbox.Discord) {
		d.SetOverwrite(sandbox.DemoHelp, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.ManageChannels})
	}
	if told := s.reads(t, "audit_forum_tags", fmt.Sprintf(`{"channelId":"%s"}`, sandbox.DemoHelp)); told["mayChange"] != false {
		t.Errorf("it tells %v", told)
	}
}
