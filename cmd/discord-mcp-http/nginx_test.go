package main_test

import (
	"bufio"
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/cmd/internal/consoletest"
)

var inNginx = regexp.MustCompile("(?s)```nginx\n(.*?)```")

// TestNginx runs the configuration of docs/http.md, with other ports.
func TestNginx(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program = "/usr/sbin/nginx"; exec.Command(program, "-v").Run() != nil {
			t.Skip("LEFT OUT: there is no nginx here; install Debian's package nginx-light")
		}
	}
	page, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	block := inNginx.FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/http.md has no configuration of nginx")
	}
	c := newCluster(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := listener.Addr().String()
	listener.Close()
	for n, name := range []string{"east", "west"} {
		c.env = append(c.env, "MCP_HTTP_REPLICA="+name)
		c.kill(n)
		c.proxy.replicas[n].Store(start(t, c.env))
	}
	conf := string(block[1])
	for old, by := range map[string]string{
		"127.0.0.1:3001": hostOf(t, c.proxy.replicas[0].Load().url), "127.0.0.1:3002": hostOf(t, c.proxy.replicas[1].Load().url),
		"listen 8080;": "listen " + front + ";", "$host;": "agents.example.com;", // the tests' client names the address
	} {
		if !strings.Contains(conf, old) {
			t.Fatalf("the configuration has no %q", old)
		}
		conf = strings.ReplaceAll(conf, old, by)
	}
	dir := t.TempDir()
	main := "daemon off; pid " + dir + "/pid; error_log " + dir + "/error.log; events {} http { access_log off; " +
		"client_body_temp_path " + dir + "; proxy_temp_path " + dir + "; fastcgi_temp_path " + dir + "; uwsgi_temp_path " + dir + "; scgi_temp_path " + dir + ";\n" + conf + "}"
	if os.Getuid() == 0 {
		main = "user root; " + main
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	nginx := exec.CommandContext(t.Context(), program, "-c", file, "-p", dir)
	var said strings.Builder
	nginx.Stderr = &said
	nginx.Cancel = func() error { return nginx.Process.Signal(os.Interrupt) }
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nginx.Wait() })
	for late := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", front)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(late) {
			t.Fatalf("nginx does not listen: %s", &said)
		}
	}
	u := "http://" + front + "/mcp"
	at := map[string]bool{}
	for range 4 { // sessions, which stay where they are
		s := connect(t, u, "2025-11-25", nil)
		name, _, _ := strings.Cut(s.ID(), ".")
		at[name] = true
		for range 3 {
			expect(t, s, "messages_read", `{"channel_id":"`+general+`"}`, "")
		}
	}
	if !at["east"] || !at["west"] {
		t.Errorf("the sessions are at %v", at)
	}
	ana := consoletest.Visit(t, consoleOf(t, "https://agents.example.com/mcp"), endsTLS{front})
	ana.SignIn(c.ana)
	for range 2 { // of either replica
		if _, page := ana.Send("/", nil); !strings.Contains(page, "Nothing waits") {
			t.Errorf("the console shows\n%s", page)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	updates := ana.Watch(ctx)
	if line, err := bufio.NewReader(updates).ReadString('\n'); err != nil || !strings.HasPrefix(line, "retry:") {
		t.Errorf("live updates are %q, %v", line, err) // nginx may hold them back
	}
	leave()
	updates.Close()

	s := connect(t, u, "2026-07-28", nil)
	preview := expect(t, s, "components_v2_send", layout+`}`, "PAYLOAD_CONFIRMATION_REQUIRED")
	confirm := layout + `,"__confirm":true,"__confirm_hash":"` + preview.Hash + `","__confirm_id":"` + preview.ApprovalID + `"}`
	c.kill(0)
	expect(t, s, "components_v2_send", confirm, "")
	for range 3 {
		expect(t, s, "components_v2_send", confirm, "PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED")
	}
	if sent := wrote(c.world); sent != greeted {
		t.Errorf("Discord got %q, want %q", sent, greeted)
	}
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
