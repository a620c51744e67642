package sandbox

import "github.com/guildwarden/guildwarden/mcpcore/discord"

// applicationEmojiRoutes are the application's own emojis.
//
// Source: https://docs.discord.com/developers/resources/emoji#application-owned-emoji.
var applicationEmojiRoutes = []route{
	{method: "GET", path: "/applications/{application_id}/emojis", handle: inApplication(listApplicationEmojis)},
	{method: "POST", path: "/applications/{application_id}/emojis", handle: inApplication(createApplicationEmoji)},
	{method: "GET", path: "/applications/{application_id}/emojis/{emoji_id}", handle: onApplicationEmoji(getApplicationEmoji)},
	{method: "PATCH", path: "/applications/{application_id}/emojis/{emoji_id}", handle: onApplicationEmoji(editApplicationEmoji)},
	{method: "DELETE", path: "/applications/{application_id}/emojis/{emoji_id}", handle: onApplicationEmoji(deleteApplicationEmoji)},
}

// applicationEmojis is how many emojis an application has room for.
const applicationEmojis = 2000

// AddApplicationEmoji adds an emoji of the application.
func (d *Discord) AddApplicationEmoji(e Emoji) discord.EmojiID {
	d.mu.Lock()
	defer d.mu.Unlock()
	named(&d.world, &e.ID)
	unused(d.world.app.emojis, e.ID)
	if e.By == "" {
		e.By = BotID
	}
	d.world.app.emojis[e.ID] = &e
	return e.ID
}

func onApplicationEmoji(handle func(*exchange, *Emoji) (answer, error)) handler {
	return inApplication(func(x *exchange) (answer, error) {
		e := x.app.emojis[id[discord.EmojiID](x, "emoji_id")]
		if e == nil {
			return refuse(errNoEmoji)
		}
		return handle(x, e)
	})
}

func (x *exchange) viewApplicationEmoji(e *Emoji) emojiView {
	v, by := viewEmoji(e), x.user(e.By)
	v.User = &by
	return v
}

func listApplicationEmojis(x *exchange) (answer, error) {
	return ok(struct {
		Items []emojiView `json:"items"`
	}{mapped(sorted(x.app.emojis), x.viewApplicationEmoji)})
}

func getApplicationEmoji(x *exchange, e *Emoji) (answer, error) { return ok(x.viewApplicationEmoji(e)) }

func createApplicationEmoji(x *exchange) (answer, error) {
	var f struct {
		Name  string `json:"name" minLength:"2" maxLength:"32"`
		Image string `json:"image"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := x.freeEmojiName(f.Name, nil); err != nil {
		return refuse(err)
	}
	kind, err := imageData("image", f.Image, largestEmoji)
	switch {
	case err != nil:
		return refuse(err)
	case len(x.app.emojis) >= applicationEmojis:
		return refuse(errEmojisFull)
	}
	e := &Emoji{ID: discord.EmojiID(x.issue()), Name: f.Name, Animated: kind == "image/gif", By: x.actor}
	x.app.emojis[e.ID] = e
	return created(x.viewApplicationEmoji(e))
}

// freeEmojiName demands a name that no other emoji of the application has.
func (x *exchange) freeEmojiName(name string, of *Emoji) error {
	if err := checkEmojiName(name); err != nil {
		return err
	}
	for _, e := range x.app.emojis {
		if e != of && e.Name == name {
			return invalid("name", "APPLICATION_EMOJI_NAME_ALREADY_TAKEN", "An emoji with that name already exists!")
		}
	}
	return nil
}

func editApplicationEmoji(x *exchange, e *Emoji) (answer, error) {
	var f struct {
		Name opt[string] `json:"name" minLength:"2" maxLength:"32" null:"no"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := x.freeEmojiName(f.Name.or(e.Name), e); err != nil {
		return refuse(err)
	}
	f.Name.into(&e.Name)
	return ok(x.viewApplicationEmoji(e))
}

func deleteApplicationEmoji(x *exchange, e *Emoji) (answer, error) {
	delete(x.app.emojis, e.ID)
	return done()
}
