package discordtools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// liveWords are the words that show a capability in the names of channels and
// roles.
var liveWords = map[blueprint.Capability]string{
	"lfg": "lfg, recruit, recruitment, matchmaking, squad, party, clan, guild, teammate, teammates, looking for group, looking for team, " +
		"looking for teammates, find team, find teammates, team up, tim dong doi",
	"staff":    "staff, mod, mods, moderator, moderators, moderation, admin, admins, administrator, administrators, management, quan tri, doi ngu quan tri",
	"platform": "pc, xbox, playstation, ps4, ps5, switch, mobile, android, ios, console, platform, crossplay, steam, epic, mac, linux",
	"events":   "event, events, tournament, tournaments, giveaway, giveaways, contest, contests, schedule, scrim, scrims, su kien, giai dau",
	"support":  "support, help, ticket, tickets, faq, bug, bugs, report, reports, contact, tro giup, ho tro",
}

// Bounds of what a template may hold to be looked into, and to be recommended.
const (
	maxTemplateChannels   = 500
	maxTemplateRoles      = 250
	maxTemplateOverwrites = 2000
	maxNameWords          = 128
)

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// judge is what is made of a template that was looked at, and why it is not
// recommended; nil when it is.
func (l *looked) judge(c candidate, request string, wants []blueprint.Capability, usage int) (*templateChoice, []string) {
	if l.err != nil {
		return nil, []string{l.wrong}
	}
	t := &l.template
	n := t.Guild.count()
	choice := &templateChoice{
		Code: c.code, UseURL: templateAddress + string(c.code), Blueprint: n, name: t.Name, uses: max(usage, t.UsageCount),
		Quality: templateQuality{Verified: true, CodeMatch: t.Code == string(c.code), Dirty: t.IsDirty, Confidence: "medium", Permissions: "discarded_and_regenerated"},
	}
	if t.Description != nil {
		choice.about = *t.Description
	}
	if t.IsDirty != nil && !*t.IsDirty {
		choice.Quality.Confidence = "high"
	}
	for _, r := range n.Risky {
		choice.Quality.Risky = append(choice.Quality.Risky, r.Permission)
	}
	choice.Provenance = templateProvenance{Digest: l.digest, Fetched: l.at.Format(time.RFC3339)}
	choice.Provenance.Source.ID = t.SourceGuildID
	if t.Guild.Locale != "" {
		choice.Provenance.Source.Locale = &t.Guild.Locale
	}
	var wrong []string
	bad := func(is bool, why string) {
		if is {
			wrong = append(wrong, why)
		}
	}
	bad(!choice.Quality.CodeMatch, "Discord answered with another template")
	bad(t.IsDirty != nil && *t.IsDirty, "its guild has changed since it was made")
	bad(n.NSFW > 0, "it has age-restricted channels")
	bad(n.Channels < 3 || n.Channels > 96, "it has fewer than 3 or more than 96 channels")
	bad(n.Text < 1, "it has no text channel")
	bad(n.Roles < 2 || n.Roles > 64, "it has fewer than 2 or more than 64 roles")
	bad(n.Overwrites > 500, "it has more than 500 overwrites")
	bad(n.Channels > maxTemplateChannels || n.Roles > maxTemplateRoles || n.Overwrites > maxTemplateOverwrites, "it is too large")
	if wrong != nil {
		return choice, wrong
	}
	choice.Effective = t.Guild.shows(t.Name)
	told := blueprint.Asked(t.Name + " " + choice.about)
	for _, w := range wants {
		if slices.Contains(choice.Effective, w) || slices.Contains(told, w) || slices.Contains(c.has, w) {
			choice.Matched = append(choice.Matched, w)
		}
	}
	choice.covers = slices.Clone(choice.Matched)
	choice.has = n.structures()
	choice.rate(c, request, wants)
	return choice, nil
}

// shows are the capabilities that names of channels and roles show, and kinds of
// channels.
func (g templateGuild) shows(name string) (all []blueprint.Capability) {
	names := []string{name}
	voice, forum := false, false
	for _, c := range g.Channels {
		names = append(names, c.Name)
		voice = voice || c.Type == discord.GuildVoice || c.Type == discord.GuildStageVoice
		forum = forum || c.Type == discord.GuildForum
	}
	for _, r := range g.Roles {
		names = append(names, r.Name)
	}
	found := map[blueprint.Capability]bool{"voice": voice, "forum": forum}
	for _, n := range names {
		words := strings.Fields(blueprint.Plain(n))
		for _, c := range blueprint.Matched(strings.Join(words[:min(len(words), maxNameWords)], " "), func(c blueprint.Capability) string { return liveWords[c] }) {
			found[c] = true
		}
	}
	for _, c := range blueprint.Capabilities() {
		if found[c] {
			all = append(all, c)
		}
	}
	return all
}

// structures are the kinds of parts that there are.
func (b templateCounts) structures() (all []string) {
	for _, s := range []struct {
		name string
		n    int
	}{
		{"categories", b.Categories}, {"text_channels", b.Text}, {"voice_channels", b.Voice}, {"forums", b.Forum}, {"stages", b.Stage}, {"custom_roles", b.Roles - 1},
	} {
		if s.n > 0 {
			all = append(all, s.name)
		}
	}
	return all
}

// rate scores a template: 45 for what was asked for, 30 for how it is built, 15
// for safety, 5 for being described and 5 for use.
func (c *templateChoice) rate(from candidate, request string, wants []blueprint.Capability) {
	s := &c.Breakdown
	if len(wants) == 0 {
		lexical := max(from.words, wordOverlap(usefulWords(request), blueprint.Plain(c.name), "", blueprint.Plain(c.about)))
		s.Intent = lexical / 20 * 45
	}
	for _, w := range wants {
		switch {
		case slices.Contains(c.Effective, w):
			s.Intent += 45 / float64(len(wants))
		case slices.Contains(c.Matched, w):
			s.Intent += 45 * max(from.fit, 0.55) / float64(len(wants))
		}
	}
	s.Structure = c.Blueprint.built()
	s.Safety = 15 - min(8, float64(len(c.Blueprint.Risky)))
	if c.Quality.Dirty == nil {
		s.Safety -= 2
	}
	if c.name != "" {
		s.Metadata += 2
	}
	if c.about != "" {
		s.Metadata += 3
	}
	s.Usage = usageScore(c.uses)
	for _, f := range []*float64{&s.Intent, &s.Structure, &s.Safety, &s.Metadata, &s.Usage} {
		*f = math.Round(*f*100) / 100
	}
	s.Total = math.Round((s.Intent+s.Structure+s.Safety+s.Metadata+s.Usage)*100) / 100
	c.Score = s.Total
	c.Reasons = []string{
		fmt.Sprintf("covers %d of %d capabilities asked for", len(c.Matched), len(wants)),
		fmt.Sprintf("%d channels in %d categories, %d roles", c.Blueprint.Channels-c.Blueprint.Categories, c.Blueprint.Categories, c.Blueprint.Roles),
	}
}

// built is how well a guild is built, up to 30.
func (b templateCounts) built() (score float64) {
	grade := func(n, low, high, wideLow, wideHigh int, good, fair, poor float64) {
		switch {
		case n >= low && n <= high:
			score += good
		case n >= wideLow && n <= wideHigh:
			score += fair
		default:
			score += poor
		}
	}
	grade(b.Channels, 12, 48, 6, 64, 8, 6, 2)
	grade(b.Categories, 2, 10, 1, 16, 6, 4, 0)
	if b.Text > 0 && b.Voice > 0 {
		score += 6
	} else {
		score += 2
	}
	grade(b.Roles, 4, 24, 2, 32, 5, 3, 0)
	if b.Forum > 0 {
		score += 2
	}
	if b.Stage > 0 {
		score++
	}
	if b.Overwrites > 0 {
		score += 2
	}
	return max(0, score-min(6, float64(2*b.NSFW)))
}
