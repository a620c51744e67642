package sandbox

import (
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/internal/openapi"
)

// TestRoutesExistAtDiscord looks every route up in Discord's description. The
// rest of the suite checks each exchange against it as well; see checked.
func TestRoutesExistAtDiscord(t *testing.T) {
	t.Parallel()
	s, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip(openapi.Absent)
	}
	known := s.Operations()
	for _, r := range routes().all() {
		if name := r.method + " " + r.path; !slices.Contains(known, name) {
			t.Errorf("%s is not an operation of Discord", name)
		}
	}
}

// all lists the routes below a node.
func (n *node) all() (list []*route) {
	for _, r := range n.routes {
		list = append(list, r)
	}
	for _, next := range n.literal {
		list = append(list, next.all()...)
	}
	if n.param != nil {
		list = append(list, n.param.all()...)
	}
	return list
}
