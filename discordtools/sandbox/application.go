package sandbox

import (
	"cmp"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// applicationRoutes are about the bot's application.
//
// Source: https://docs.discord.com/developers/resources/application.
var applicationRoutes = []route{
	{method: "GET", path: "/applications/@me", handle: getApplication},
	{method: "PATCH", path: "/applications/@me", handle: editApplication},
	{method: "GET", path: "/applications/{application_id}/activity-instances/{instance_id}", handle: inApplication(getActivity)},
	{method: "GET", path: "/applications/{application_id}/role-connections/metadata", handle: inApplication(getConnections)},
	{method: "PUT", path: "/applications/{application_id}/role-connections/metadata", handle: inApplication(putConnections)},
}

var (
	errNoApplication    = notFound(10002, "Unknown Application")
	errOtherApplication = forbidden(20012, "You are not authorized to perform this action on this application")
)

// Flags of an application that is in few guilds and has the intent: they are what
// it can change itself.
//
// Source: https://docs.discord.com/developers/resources/application#application-object-application-flags.
const (
	flagPresenceLimited = 1 << 13
	flagMembersLimited  = 1 << 15
	flagContentLimited  = 1 << 19

	flagsLimited = flagPresenceLimited | flagMembersLimited | flagContentLimited
)

// Application is what the bot's application says of itself.
type Application struct {
	Description string
	Icon, Cover string         // hashes; "" is none
	Owner       discord.UserID // "" means DemoOwner
	Tags        []string
	Install     *InstallParams
	Installs    map[string]InstallParams // by "0", guilds, and "1", users

	InstallURL, InteractionsURL, ConnectionsURL, EventsURL string
	Events                                                 int // 0 means 1, off
	EventTypes                                             []string
}

// InstallParams are the scopes and permissions that an authorization link asks for.
type InstallParams struct {
	Scopes      []string
	Permissions discord.Permissions
}

// application is the bot's application with what belongs to it.
type application struct {
	Application
	flags         *int // nil: every privileged intent that Options grant
	commands      commandMap
	emojis        map[discord.EmojiID]*Emoji
	connections   []ConnectionField
	skus          map[discord.SKUID]*SKU
	entitlements  map[discord.EntitlementID]*Entitlement
	subscriptions map[discord.SubscriptionID]*Subscription
	activities    map[string]*Activity
}

func newApplication() application {
	return application{
		commands: commandMap{}, emojis: map[discord.EmojiID]*Emoji{}, skus: map[discord.SKUID]*SKU{},
		entitlements: map[discord.EntitlementID]*Entitlement{}, subscriptions: map[discord.SubscriptionID]*Subscription{},
		activities: map[string]*Activity{},
	}
}

// SetApplication says what the bot's application says of itself.
func (d *Discord) SetApplication(a Application) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.world.app.Application = a
}

// Application is what the bot's application says of itself.
func (d *Discord) Application() Application {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.world.app.Application
}

// inApplication resolves {application_id}, which must be the bot's own.
func inApplication(handle handler) handler {
	return func(x *exchange) (answer, error) {
		switch of := id[discord.ApplicationID](x, "application_id"); {
		case of == ApplicationID:
			return handle(x)
		case x.users[discord.UserID(of)] != nil && x.users[discord.UserID(of)].Bot:
			return refuse(errOtherApplication)
		}
		return refuse(errNoApplication)
	}
}

type applicationView struct {
	ID           discord.ApplicationID  `json:"id"`
	Name         string                 `json:"name"`
	Icon         *string                `json:"icon"`
	Description  string                 `json:"description"`
	Type         *int                   `json:"type"`
	Cover        string                 `json:"cover_image,omitempty"`
	Bot          userView               `json:"bot"`
	Public       bool                   `json:"bot_public"`
	CodeGrant    bool                   `json:"bot_require_code_grant"`
	VerifyKey    string                 `json:"verify_key"`
	Flags        int                    `json:"flags"`
	FlagsNew     string                 `json:"flags_new"`
	Tags         []string               `json:"tags,omitempty"`
	InstallURL   string                 `json:"custom_install_url,omitempty"`
	Install      *installView           `json:"install_params,omitempty"`
	Installs     map[string]installType `json:"integration_types_config,omitempty"`
	RedirectURIs []string               `json:"redirect_uris"`
	Interactions *string                `json:"interactions_endpoint_url"`
	Connections  *string                `json:"role_connections_verification_url"`
	Events       *string                `json:"event_webhooks_url"`
	EventStatus  int                    `json:"event_webhooks_status"`
	EventTypes   []string               `json:"event_webhooks_types,omitempty"`
	Owner        userView               `json:"owner"`
	Guilds       int                    `json:"approximate_guild_count"`
	UserInstalls int                    `json:"approximate_user_install_count"`
	Grants       int                    `json:"approximate_user_authorization_count"`
	Filter       int                    `json:"explicit_content_filter"`
	Team         *struct{}              `json:"team"`
	Scopes       []string               `json:"eligible_oauth2_scopes"`
}

type installView struct {
	Scopes      []string `json:"scopes"`
	Permissions string   `json:"permissions"`
}

type installType struct {
	Params *installView `json:"oauth2_install_params,omitempty"`
}

func viewInstall(p *InstallParams) *installView {
	if p == nil {
		return nil
	}
	return &installView{list(p.Scopes), bits(p.Permissions)}
}

// verifyKey and redirect are what only the application's owner is to see.
const (
	verifyKey = "5a4d9c1e7f00b3aa5a4d9c1e7f00b3aa5a4d9c1e7f00b3aa5a4d9c1e7f00b3aa"
	redirect  = "https://lighthouse.example/oauth2/return"
)

// currentFlags are the flags by which Discord grants privileged intents: members
// always, message content unless [Options] takes it away.
func (x *exchange) currentFlags() int {
	flags := flagMembersLimited | flagContentLimited
	if x.app.flags != nil {
		flags = *x.app.flags
	}
	if x.options.WithoutMessageContent {
		flags &^= flagContentLimited
	}
	return flags
}

func getApplication(x *exchange) (answer, error) {
	a, flags := &x.app.Application, x.currentFlags()
	v := applicationView{
		ID: ApplicationID, Name: x.options.BotName, Icon: textOrNull(a.Icon), Description: a.Description, Cover: a.Cover,
		Bot: x.user(x.actor), Public: true, VerifyKey: verifyKey, Flags: flags, FlagsNew: strconv.Itoa(flags), Tags: a.Tags,
		InstallURL: a.InstallURL, Install: viewInstall(a.Install), RedirectURIs: []string{redirect}, Interactions: textOrNull(a.InteractionsURL),
		Connections: textOrNull(a.ConnectionsURL), Events: textOrNull(a.EventsURL), EventStatus: orDefault(a.Events, 1), EventTypes: a.EventTypes,
		Owner: x.user(cmp.Or(a.Owner, DemoOwner)), Scopes: []string{"bot", "applications.commands"},
	}
	for kind, p := range a.Installs {
		if v.Installs == nil {
			v.Installs = map[string]installType{}
		}
		v.Installs[kind] = installType{viewInstall(&p)}
	}
	for _, g := range x.guilds {
		if g.members[x.actor] != nil {
			v.Guilds++
		}
	}
	return ok(v)
}

type installForm struct {
	Scopes      opt[[]string]            `json:"scopes" minItems:"1"`
	Permissions opt[discord.Permissions] `json:"permissions"`
}

func (f installForm) params() InstallParams {
	return InstallParams{f.Scopes.value, f.Permissions.value}
}

type installTypeForm struct {
	Params opt[installForm] `json:"oauth2_install_params"`
}

// editApplication changes what was sent. Of the flags only the limited ones can be
// changed.
func editApplication(x *exchange) (answer, error) {
	var f struct {
		Description     opt[string]      `json:"description" maxLength:"400" null:"no"`
		Icon            opt[string]      `json:"icon"`
		Cover           opt[string]      `json:"cover_image"`
		InteractionsURL opt[string]      `json:"interactions_endpoint_url" maxLength:"2048" format:"uri"`
		ConnectionsURL  opt[string]      `json:"role_connections_verification_url" maxLength:"2048" format:"uri"`
		InstallURL      opt[string]      `json:"custom_install_url" maxLength:"2048" format:"uri"`
		EventsURL       opt[string]      `json:"event_webhooks_url" maxLength:"2048" format:"uri"`
		Events          opt[int]         `json:"event_webhooks_status" enum:"1,2"`
		EventTypes      opt[[]string]    `json:"event_webhooks_types"`
		Tags            opt[[]string]    `json:"tags" maxItems:"5"`
		Flags           opt[int]         `json:"flags"`
		Install         opt[installForm] `json:"install_params"`
		Installs        opt[struct {
			Guild opt[installTypeForm] `json:"0"`
			User  opt[installTypeForm] `json:"1"`
		}] `json:"integration_types_config"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	a := x.app.Application
	for path, image := range map[string]struct {
		sent opt[string]
		hash *string
	}{"icon": {f.Icon, &a.Icon}, "cover_image": {f.Cover, &a.Cover}} {
		if err := picture(path, image.sent, image.hash); err != nil {
			return refuse(err)
		}
	}
	f.Description.into(&a.Description)
	f.InteractionsURL.into(&a.InteractionsURL)
	f.ConnectionsURL.into(&a.ConnectionsURL)
	f.InstallURL.into(&a.InstallURL)
	f.EventsURL.into(&a.EventsURL)
	f.Events.into(&a.Events)
	f.EventTypes.into(&a.EventTypes)
	f.Tags.into(&a.Tags)
	if f.Install.sent {
		a.Install = nil
		if f.Install.has() {
			p := f.Install.value.params()
			a.Install = &p
		}
	}
	if f.Installs.sent {
		a.Installs = map[string]InstallParams{}
		for kind, sent := range map[string]opt[installTypeForm]{"0": f.Installs.value.Guild, "1": f.Installs.value.User} {
			if sent.has() {
				a.Installs[kind] = sent.value.Params.value.params()
			}
		}
	}
	if f.Flags.has() {
		flags := x.currentFlags()&^flagsLimited | f.Flags.value&flagsLimited
		x.app.flags = &flags
	}
	x.app.Application = a
	return getApplication(x)
}
