package mcpcore

import "context"

// Picture shows the person who decides what a call makes of something: a tree of
// its parts as they are, and one as they will be. It follows from the call and its
// facts alone. Names come from callers and Discord and are not to be trusted.
type Picture struct {
	Title  string   `json:"title"` // "Channels"
	Before []Branch `json:"before"`
	After  []Branch `json:"after"`
}

// Branch is a line of a [Picture], with what is below it.
type Branch struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind,omitempty"` // in a word of ours: "category"
	Mark   Mark     `json:"mark,omitempty"` // of a tree of what will be
	Moved  bool     `json:"moved,omitempty"`
	Notes  []string `json:"notes,omitempty"` // in words of ours: "private"
	Inside []Branch `json:"inside,omitempty"`
}

// Mark says what becomes of a branch, apart from its place; "" is nothing.
type Mark string

// The marks.
const (
	Added   Mark = "added"
	Changed Mark = "changed"
)

// MaxBranches is how many lines the pictures of a call may have. One that has more
// is shown without them.
const MaxBranches = 4000

// pictures are what is drawn of the call; nil for nothing.
func (c *Call) pictures(ctx context.Context) (all []Picture, err error) {
	switch {
	case c.tool.flow() != nil && c.ready != nil:
		all = c.ready.pictures
	case c.tool.Pictures != nil:
		all, err = c.tool.Pictures(ctx, c)
	}
	n := 0
	for _, p := range all {
		n += branches(p.Before) + branches(p.After)
	}
	if n > MaxBranches {
		all = nil
	}
	return all, err
}

func branches(list []Branch) (n int) {
	for _, b := range list {
		n += 1 + branches(b.Inside)
	}
	return n
}
