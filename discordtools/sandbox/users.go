package sandbox

// userRoutes are about the bot's own account.
var userRoutes = []route{
	{method: "GET", path: "/users/@me", handle: getMe},
	{method: "GET", path: "/users/@me/guilds", handle: listMyGuilds},
}

type meView struct {
	userView
	MFA      bool    `json:"mfa_enabled"`
	Locale   string  `json:"locale"`
	Verified bool    `json:"verified"`
	Email    *string `json:"email"`
}

func getMe(x *exchange) (answer, error) {
	return ok(meView{userView: x.user(x.actor), MFA: true, Locale: "en-US", Verified: true})
}

func listMyGuilds(x *exchange) (answer, error) {
	counts, err := x.flag("with_counts")
	if err != nil {
		return refuse(err)
	}
	var mine []*guild
	for _, g := range sorted(x.guilds) {
		if g.members[x.actor] != nil {
			mine = append(mine, g)
		}
	}
	mine, err = page(x, mine, func(g *guild) string { return string(g.ID) }, 200, 200)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(mine, func(g *guild) myGuildView {
		v := myGuildView{
			ID: g.ID, Name: g.Name, Icon: textOrNull(g.Icon), Banner: textOrNull(g.Banner), Owner: g.Guild.Owner == x.actor,
			Permissions: bits(x.inGuild(g, x.actor)), Features: list(g.Features),
		}
		if counts {
			all, online := g.counts()
			v.ApproximateCount, v.ApproximateOnline = &all, &online
		}
		return v
	}))
}
