package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Report is what [Verify] found.
type Report struct {
	Files   []string `json:"files"`
	Keyed   bool     `json:"keyed"` // else only accidents are found
	KeyID   string   `json:"key_id,omitempty"`
	Records uint64   `json:"records"` // that are whole; those about the file itself count
	// Before is how many records stand in earlier files.
	Before uint64 `json:"before,omitempty"`
	// LastGood is the last record in front of the first problem; nil when there
	// is none.
	LastGood *Record `json:"last_good,omitempty"`
	// PastHead is how many records the head does not count yet: the process
	// ended between writing them and writing the head, or is about to.
	PastHead uint64 `json:"past_head,omitempty"`
	// Torn is what interrupted writes left. Nothing in it was ever answered for
	// as kept.
	Torn     []Torn    `json:"torn,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// Record names a record.
type Record struct {
	File      string        `json:"file"`
	Line      int           `json:"line"`
	Number    uint64        `json:"number"`
	Phase     mcpcore.Phase `json:"phase,omitempty"` // "" for one about the file itself
	RequestID string        `json:"request_id,omitempty"`
	Time      time.Time     `json:"time"`
}

// Torn is an unfinished line, or several.
type Torn struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Bytes  int64  `json:"bytes"`
	Marked uint64 `json:"marked,omitempty"` // number of the record that marks it; 0: the next start will finish or mark it
}

// Fault is a kind of problem.
type Fault string

// The faults.
const (
	FaultChanged   Fault = "changed"   // a line is no record of the chain: it was changed, or put there
	FaultMissing   Fault = "missing"   // records are gone
	FaultReordered Fault = "reordered" // a record stands behind a later one, or twice
	FaultCut       Fault = "cut"       // the end is gone
	FaultUnlinked  Fault = "unlinked"  // a record is genuine and belongs to another chain
	FaultHead      Fault = "head"      // the head file is gone, changed, or does not fit
	FaultKey       Fault = "key"       // another key was used
)

// Problem is one thing that is wrong.
type Problem struct {
	Fault Fault  `json:"fault"`
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"` // from 1; 0 when it is no line's
	Text  string `json:"text"`           // what is wrong, as a sentence
}

// Intact reports whether nothing is wrong. Torn lines are not wrong.
func (r Report) Intact() bool { return len(r.Problems) == 0 }

// String says it in words, on several lines.
func (r Report) String() string {
	var b strings.Builder
	name := r.Files[len(r.Files)-1]
	if r.Intact() {
		fmt.Fprintf(&b, "%s is intact: %s.\n", name, counted(r.Records, "record"))
	} else {
		fmt.Fprintf(&b, "%s is BROKEN: %s.\n", name, counted(uint64(len(r.Problems)), "problem"))
	}
	for _, p := range r.Problems {
		at := p.File
		if p.Line > 0 {
			at = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		fmt.Fprintf(&b, "- %s: %s\n", at, p.Text)
	}
	switch {
	case r.LastGood != nil:
		fmt.Fprintf(&b, "Last good record: %s.\n", r.LastGood)
	case !r.Intact():
		b.WriteString("No record is good.\n")
	}
	for _, t := range r.Torn {
		marked := "; the next start will finish or mark it"
		if t.Marked > 0 {
			marked = fmt.Sprintf(", marked by record %d", t.Marked)
		}
		fmt.Fprintf(&b, "Torn: %s:%d, %s of a write that was cut short%s.\n", t.File, t.Line, counted(uint64(t.Bytes), "byte"), marked)
	}
	if r.PastHead > 0 {
		fmt.Fprintf(&b, "%s at the end not yet counted by the head: the process ended between the two writes, or is about to count.\n", counted(r.PastHead, "record"))
	}
	if r.Before > 0 {
		fmt.Fprintf(&b, "%s in earlier files; name those too, oldest first, to have them checked.\n", counted(r.Before, "more record"))
	}
	if !r.Keyed {
		b.WriteString("The chain has no key: it shows accidents, not what somebody who can write the file has done.\n")
	}
	return b.String()
}

// String is the record in a few words.
func (r Record) String() string {
	what := "about the file itself"
	if r.Phase != "" {
		what = fmt.Sprintf("%s of request %q", r.Phase, r.RequestID)
	}
	return fmt.Sprintf("%d (%s:%d), %s, %s", r.Number, r.File, r.Line, what, r.Time.Format(time.RFC3339))
}

func counted(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// span names a run of records.
func span(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("record %d", from)
	}
	return fmt.Sprintf("records %d to %d", from, to)
}
