package discordtools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The bounds of what is taken over from a model, in characters and items.
const (
	maxProse = 8000
	maxLine  = 500
	maxItems = 200
)

func jsonList(names []string) string {
	b, _ := canon.Marshal(names) // of texts
	return string(b)
}

func jsonText(s string) string { return string(canon.AppendString(nil, s)) }

var summaryForms = map[string]string{
	"bullet": "a short list of bullet points", "paragraph": "one paragraph", "executive": "two or three sentences for somebody who has no time",
}

func summarizeLatest(ctx context.Context, a *api, in summarizeChannel) (v channelSummary, err error) {
	style := cmp.Or(in.Style, "bullet")
	t := task{
		name: "summarize", maxTokens: 800, intelligence: 0.8,
		role: "You sum up conversations of a Discord channel for its moderators.",
		want: "Sum up the messages below as " + summaryForms[style] +
			`. Answer with one JSON object and nothing else: {"summary": text, "key_topics": [text], "action_items": [text]}.`,
	}
	l, err := a.consult(ctx, in.ChannelID, t)
	if err != nil {
		return v, err
	}
	v = channelSummary{SamplingOn: l.asked, ChannelID: in.ChannelID, Style: style, Used: l.used, remarks: l.remarks}
	if !l.asked {
		v.Raw, v.Meta = &l.messages, t.fallback()
		return v, nil
	}
	answer, ok := answered[struct {
		Summary     *string  `json:"summary"`
		KeyTopics   []string `json:"key_topics"`
		ActionItems []string `json:"action_items"`
	}](l.answer)
	if !ok || answer.Summary == nil {
		answer.Summary, answer.KeyTopics, answer.ActionItems = &l.answer, nil, nil
	}
	summary := clipped(*answer.Summary, maxProse)
	topics, items := clippedAll(answer.KeyTopics, maxItems, maxLine), clippedAll(answer.ActionItems, maxItems, maxLine)
	v.Summary, v.KeyTopics, v.ActionItems = &summary, &topics, &items
	return v, nil
}

func classifyLatest(ctx context.Context, a *api, in classifyMessages) (v classifiedMessages, err error) {
	t := task{
		name: "classify", maxTokens: 1500, intelligence: 0.7,
		role: "You sort messages of a Discord channel.",
		want: "Put each message below into exactly one of these categories: " + jsonList(in.Categories) +
			`. Answer with one JSON object and nothing else: {"classifications": [{"message_id": id of the message, "category": category, "confidence": number from 0 to 1}]}.`,
	}
	l, err := a.consult(ctx, in.ChannelID, t)
	if err != nil {
		return v, err
	}
	v = classifiedMessages{SamplingOn: l.asked, ChannelID: in.ChannelID, remarks: l.remarks}
	if !l.asked {
		v.Raw, v.Categories, v.Meta = &l.messages, &in.Categories, t.fallback()
		return v, nil
	}
	answer, _ := answered[struct {
		Classifications []struct {
			MessageID  string   `json:"message_id"`
			Category   string   `json:"category"`
			Confidence *float64 `json:"confidence"`
		} `json:"classifications"`
	}](l.answer)
	sorted := []classification{}
	seen := map[discord.MessageID]bool{}
	for _, c := range answer.Classifications {
		id := discord.MessageID(c.MessageID)
		author, fetched := l.authors[id]
		category, known := among(in.Categories, c.Category)
		if !fetched || !known || seen[id] {
			continue // of no message that was looked at, into no category that was asked for, or twice
		}
		seen[id] = true
		sorted = append(sorted, classification{id, author, category, confidenceOf(c.Confidence)})
	}
	count := len(sorted)
	v.Classifications, v.Count = &sorted, &count
	return v, nil
}

// among is the name that a model meant, whatever its case.
func among(names []string, said string) (string, bool) {
	for _, name := range names {
		if strings.EqualFold(strings.TrimSpace(said), strings.TrimSpace(name)) {
			return name, true
		}
	}
	return "", false
}

// confidenceOf is a model's number between 0 and 1, 0 when it gave none.
func confidenceOf(n *float64) float64 {
	if n == nil {
		return 0
	}
	return min(max(*n, 0), 1)
}

func draftMessage(ctx context.Context, a *api, in draftResponse) (v draftedResponse, err error) {
	tone := cmp.Or(in.Tone, "friendly")
	t := task{
		name: "draft_response", maxTokens: 600, intelligence: 0.8,
		role: "You draft messages for a Discord channel. A person reads your draft before it is sent.",
		want: fmt.Sprintf(`Draft one %s message of at most 2000 characters that fits the conversation below. What it is to achieve: %s. `+
			`Answer with one JSON object and nothing else: {"draft": text, "reasoning": text}.`, tone, jsonText(in.Intent)),
	}
	l, err := a.consult(ctx, in.ChannelID, t)
	if err != nil {
		return v, err
	}
	v = draftedResponse{SamplingOn: l.asked, ChannelID: in.ChannelID, remarks: l.remarks}
	if !l.asked {
		v.Raw, v.Intent, v.Tone, v.Meta = &l.messages, in.Intent, tone, t.fallback()
		return v, nil
	}
	answer, ok := answered[struct {
		Draft     *string `json:"draft"`
		Reasoning string  `json:"reasoning"`
	}](l.answer)
	if !ok || answer.Draft == nil {
		answer.Draft, answer.Reasoning = &l.answer, ""
	}
	text, reasoning := clipped(*answer.Draft, maxProse), clipped(answer.Reasoning, maxProse)
	v.Draft, v.Reasoning = &text, &reasoning
	return v, nil
}

func extractThings(ctx context.Context, a *api, in extractEntities) (v extractedEntities, err error) {
	types := in.Types
	if len(types) == 0 {
		types = []string{"decision", "action_item"}
	}
	t := task{
		name: "extract_entities", maxTokens: 1500, intelligence: 0.7,
		role: "You find things in messages of a Discord channel.",
		want: "Find everything of these types in the messages below: " + jsonList(types) +
			`. Answer with one JSON object and nothing else: {"entities": [{"type": type, "value": text, "source_message_id": id of the message, "context": short text}]}.`,
	}
	l, err := a.consult(ctx, in.ChannelID, t)
	if err != nil {
		return v, err
	}
	v = extractedEntities{SamplingOn: l.asked, ChannelID: in.ChannelID, remarks: l.remarks}
	if !l.asked {
		v.Raw, v.Types, v.Meta = &l.messages, &types, t.fallback()
		return v, nil
	}
	answer, _ := answered[struct {
		Entities []struct {
			Type    string          `json:"type"`
			Value   string          `json:"value"`
			Source  json.RawMessage `json:"source_message_id"` // models write null here
			Context string          `json:"context"`
		} `json:"entities"`
	}](l.answer)
	found := []entity{}
	for _, e := range answer.Entities {
		kind, known := among(types, e.Type)
		value := clipped(e.Value, maxLine)
		if !known || value == "" || len(found) == maxItems {
			continue
		}
		one := entity{Type: kind, Value: value, Context: clipped(e.Context, maxLine)}
		var source string
		if json.Unmarshal(e.Source, &source) == nil {
			if _, fetched := l.authors[discord.MessageID(source)]; fetched {
				one.Source = discord.MessageID(source)
			}
		}
		found = append(found, one)
	}
	count := len(found)
	v.Entities, v.Count = &found, &count
	return v, nil
}

// commonPolicy is judged by where the caller states no policy.
const commonPolicy = "Block threats, hate, harassment, sexual content about minors, private data of others and scams. Flag insults, spam and what a moderator should look at. Allow everything else."

func moderateText(_ context.Context, a *api, in moderateContent) (v moderatedContent, err error) {
	policy := cmp.Or(in.Policy, commonPolicy)
	t := task{
		name: "moderate", maxTokens: 400, intelligence: 0.7,
		role: "You judge texts for the moderators of a Discord community.",
		want: "Judge the text below by this policy: " + jsonText(policy) +
			`. Answer with one JSON object and nothing else: {"decision": "allow", "flag" or "block", "reasons": [text], "confidence": number from 0 to 1}.`,
	}
	answer, ok := a.call.Answer(t.name)
	switch {
	case !ok && a.call.CanAsk(mcpcore.Sampling):
		return v, a.askModel(t, fence.Text(fence.Message, in.Content), struct{}{})
	case !ok:
		v = moderatedContent{Content: in.Content, Policy: policy, Meta: t.fallback()}
		v.Warnings = []string{noModelHere}
		return v, nil
	}
	verdict, read := answered[struct {
		Decision   string   `json:"decision"`
		Reasons    []string `json:"reasons"`
		Confidence *float64 `json:"confidence"`
	}](answer.Text)
	decision, known := among([]string{"allow", "flag", "block"}, verdict.Decision)
	reasons, confidence := clippedAll(verdict.Reasons, maxItems, maxLine), confidenceOf(verdict.Confidence)
	if !read || !known {
		decision, reasons, confidence = "flag", []string{"the model's answer could not be read"}, 0
	}
	return moderatedContent{SamplingOn: true, Decision: decision, Reasons: &reasons, Confidence: &confidence}, nil
}
