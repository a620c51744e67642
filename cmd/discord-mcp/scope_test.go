package main_test

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

func TestAnotherBotEndsTheProcess(t *testing.T) {
	t.Parallel()
	p := serve(t, []string{"DISCORD_EXPECTED_BOT_ID=1999999999999999999"}, "serve", "--sandbox")
	e := p.wait()
	if e.status != 1 {
		t.Errorf("exit status %d", e.status)
	}
	for _, want := range []string{"DISCORD_EXPECTED_BOT_ID", string(sandbox.BotID), "1999999999999999999"} {
		if !strings.Contains(e.stderr, want) {
			t.Errorf("nothing about %s in:\n%s", want, e.stderr)
		}
	}
}

func TestTheExpectedBotServes(t *testing.T) {
	t.Parallel()
	p := serve(t, []string{"DISCORD_EXPECTED_BOT_ID=" + string(sandbox.BotID)}, "serve", "--sandbox")
	p.handshake()
	p.works()
	_ = p.in.Close()
	if e := p.wait(); e.status != 0 {
		t.Errorf("exit status %d; stderr:\n%s", e.status, e.stderr)
	}
}

// L55 Start-up waits for Discord
func TestL55IdentityDelaysNoHandshake(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, end := agent(t, eras[0], []string{
		"DISCORD_API_BASE=http://" + l.Addr().String() + "/api/v10", "DISCORD_EXPECTED_BOT_ID=" + string(sandbox.BotID),
	}, "serve")
	list, err := s.ListTools(t.Context(), &mcp.ListToolsParams{})
	if err != nil || len(list.Tools) == 0 {
		t.Errorf("%d tools, error %v", len(list.Tools), err)
	}
	end()
}

func TestAllowlistHoldsTheBinary(t *testing.T) {
	t.Parallel()
	p := serve(t, []string{"ALLOWED_GUILDS=" + guild}, "serve", "--sandbox")
	p.handshake()
	p.works()
	p.send(call("1", "messages_send", `{"channel_id":"`+string(sandbox.DemoClubGeneral)+`","content":"x"}`))
	if m := p.next(); !bytes.Contains(m.Result, []byte("GUILD_NOT_ALLOWED")) {
		t.Errorf("another guild: %s", m.Result)
	}
	_ = p.in.Close()
	p.wait()
}
