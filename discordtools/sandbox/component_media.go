package sandbox

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Media is a picture or file of a layout.
type Media struct {
	URL, Description string
	Spoiler          bool
	Attachment       discord.AttachmentID // of the message's own file; "" for an address
}

const ownFile = "attachment://"

// media reads where a picture or file comes from: an address, or a file of the
// message, which is from then on shown by the layout alone.
func (l *layout) media(path, url string) Media {
	name, own := strings.CutPrefix(url, ownFile)
	if !own {
		return Media{URL: url}
	}
	i := slices.IndexFunc(l.m.Attachments, func(a Attachment) bool { return a.Name == fileName(name) })
	if i < 0 {
		l.form.add(path+".url", "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", "The referenced attachment (%q) was not found", url)
		return Media{URL: url}
	}
	a := l.m.Attachments[i]
	return Media{URL: viewAttachment(l.m.Channel, a).URL, Attachment: a.ID}
}

// medium is media with what stands beside it.
func (l *layout) medium(path, url string, description opt[string], spoiler opt[bool]) Media {
	m := l.media(path, url)
	m.Description, m.Spoiler = description.value, spoiler.value
	return m
}

// loose are the attachments that no component shows.
//
// Source: https://docs.discord.com/developers/resources/message#message-object.
func (m *Message) loose() []Attachment {
	shown := map[discord.AttachmentID]bool{}
	walk(m.Components, func(c *Component) {
		for _, medium := range c.Media {
			shown[medium.Attachment] = true
		}
	})
	return slices.DeleteFunc(slices.Clone(m.Attachments), func(a Attachment) bool { return shown[a.ID] })
}

type unfurled struct {
	ID         string               `json:"id"`
	URL        string               `json:"url"`
	ProxyURL   string               `json:"proxy_url"`
	Attachment discord.AttachmentID `json:"attachment_id,omitempty"`
}

// unfurl makes what Discord knows of a medium; its id follows from the address.
func unfurl(m Media) unfurled {
	h := fnv.New64a()
	h.Write([]byte(m.URL))
	return unfurled{strconv.FormatUint(h.Sum64()>>1|1<<60, 10), m.URL, m.URL, m.Attachment}
}
