package sandbox

import (
	"net/url"
	"strings"
	"sync"
)

// handler executes one request with the world locked. It checks everything
// before it changes anything; an error that is not an *apiError is a fault of
// the sandbox and answers 500.
type handler func(*exchange) (answer, error)

// route is one operation of Discord's API.
type route struct {
	method string
	path   string // a template with the parameter names of Discord's OpenAPI file
	handle handler
	open   bool   // needs no Authorization: the path carries a token, or nothing is secret
	scope  string // OAuth2 scope, where a person's access token is needed and the bot's will not do
}

// routes is the API, composed of one table per subject.
var routes = sync.OnceValue(func() *node {
	root := &node{}
	for _, table := range [][]route{
		userRoutes,
		guildRoutes,
		channelRoutes,
		overwriteRoutes,
		messageRoutes,
		pinRoutes,
		reactionRoutes,
		threadRoutes,
		threadMemberRoutes,
		threadListRoutes,
		guildSettingRoutes,
		widgetRoutes,
		welcomeRoutes,
		onboardingRoutes,
		pruneRoutes,
		integrationRoutes,
		voiceRoutes,
		auditLogRoutes,
		memberRoutes,
		banRoutes,
		roleRoutes,
		accountRoutes,
		applicationRoutes,
		applicationEmojiRoutes,
		commandRoutes,
		commandPermissionRoutes,
		monetizationRoutes,
		inviteRoutes,
		emojiRoutes,
		stickerRoutes,
		pollRoutes,
		eventRoutes,
		stageRoutes,
		soundRoutes,
		autoModRoutes,
		webhookRoutes,
		webhookMessageRoutes,
		interactionRoutes,
		templateRoutes,
	} {
		for _, r := range table {
			root.add(r)
		}
	}
	return root
})

// node is a place in the tree of path templates.
type node struct {
	literal map[string]*node
	param   *node
	routes  map[string]*route // by method
}

func (n *node) add(r route) {
	for _, segment := range strings.Split(strings.Trim(r.path, "/"), "/") {
		if strings.HasPrefix(segment, "{") {
			if n.param == nil {
				n.param = &node{}
			}
			n = n.param
			continue
		}
		if n.literal == nil {
			n.literal = map[string]*node{}
		}
		next := n.literal[segment]
		if next == nil {
			next = &node{}
			n.literal[segment] = next
		}
		n = next
	}
	if n.routes == nil {
		n.routes = map[string]*route{}
	}
	if n.routes[r.method] != nil {
		panic("sandbox: two routes for " + r.method + " " + r.path)
	}
	n.routes[r.method] = &r
}

// find is the route for a path, a literal segment going before a parameter.
// known says that the path exists under some method.
func (n *node) find(method string, segments []string) (r *route, known bool) {
	if len(segments) == 0 {
		return n.routes[method], n.routes != nil
	}
	if next := n.literal[segments[0]]; next != nil {
		if r, known = next.find(method, segments[1:]); r != nil {
			return r, true
		}
	}
	if n.param != nil {
		r, k := n.param.find(method, segments[1:])
		return r, k || known
	}
	return nil, known
}

// segments splits an escaped path, without its /api/vN, into unescaped parts.
// It is nil for a path outside the API.
func segments(escaped string) []string {
	rest, ok := strings.CutPrefix(escaped, "/api/")
	if !ok {
		return nil
	}
	version, rest, ok := strings.Cut(rest, "/")
	if !ok || version != "v9" && version != "v10" || rest == "" {
		return nil
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil || plain == "" {
			return nil
		}
		parts[i] = plain
	}
	return parts
}

// params binds a template's parameters to a path's segments.
func (r *route) params(segments []string) map[string]string {
	bound := map[string]string{}
	for i, part := range strings.Split(strings.Trim(r.path, "/"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			bound[strings.TrimSuffix(name, "}")] = segments[i]
		}
	}
	return bound
}
