package discordtools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// BenchmarkProjection makes the view of 50 messages out of Discord's reply.
func BenchmarkProjection(b *testing.B) {
	items := make([]string, 50)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"1200000000000000%03d","channel_id":"1200000000000000001","content":"Message %d: the lamp blinks twice.","timestamp":"2026-03-14T15:09:26+00:00",
			"edited_timestamp":null,"type":0,"flags":0,"tts":false,"pinned":false,"mention_everyone":false,"mentions":[],"mention_roles":[],"embeds":[],"attachments":[],"components":[],
			"author":{"id":"1200000000000000104","username":"tomasz","global_name":"Tomasz","discriminator":"0","avatar":null,"public_flags":0},
			"reactions":[{"count":2,"me":false,"emoji":{"id":null,"name":"👍"},"burst_colors":[],"count_details":{"burst":0,"normal":2}}]}`, i, i)
	}
	body := []byte("[" + strings.Join(items, ",") + "]")
	if !json.Valid(body) {
		b.Fatal("the reply is no JSON")
	}
	p, err := newProjection(reflect.TypeFor[messagesPage]())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		reply, err := decodeReply(body)
		if err != nil {
			b.Fatal(err)
		}
		var view messagesPage
		if err := p.fill(reflect.ValueOf(&view).Elem(), reply, reply.properties(nil), nil); err != nil {
			b.Fatal(err)
		}
	}
}
