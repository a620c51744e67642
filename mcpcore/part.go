package mcpcore

// Part says which reviewed workflow a tool belongs to, and what it does there.
// The zero Part is that of a tool that stands alone.
type Part struct {
	Workflow string // its name, "channel-creation"
	Role     Role
}

// Role is what a tool does in a workflow.
type Role int

// The roles.
const (
	Alone     Role = iota // in none
	Companion             // reads what the workflow's other tools need to know, and is there with them
	Audit                 // reads what the workflow is about, and is there without it
	Plan                  // says what would be done, and changes nothing
	Execute               // does what was planned and reviewed, once
	Verify                // looks whether what was done still holds
)

// String is the role in one word.
func (r Role) String() string {
	if r < Alone || r > Verify {
		return "unknown"
	}
	return [...]string{"alone", "companion", "audit", "plan", "execute", "verify"}[r]
}

// Together reports whether the tool is there with its workflow's other tools or
// not at all.
func (p Part) Together() bool { return p.Workflow != "" && p.Role != Audit }
