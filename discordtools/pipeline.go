package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

type pipeline struct {
	Steps []pipelineStep `json:"steps" in:"local" jsonschema:"calls in their order" minItems:"1" maxItems:"20"`
}

type pipelineStep struct {
	ID              string            `json:"id,omitempty" jsonschema:"name of the step and of its result; step_0, step_1 ... when absent" pattern:"^[A-Za-z][A-Za-z0-9_]{0,63}$"`
	Tool            string            `json:"tool" jsonschema:"tool to call" minLength:"1" maxLength:"64"`
	Args            mcpcore.Arguments `json:"args" jsonschema:"its arguments, __confirm included"`
	SaveAs          string            `json:"save_as,omitempty" jsonschema:"another name of the result" minLength:"1"`
	If              string            `json:"if,omitempty" jsonschema:"path of an earlier result: without it, or when it is false, 0, null or an empty text, the step is skipped" minLength:"1"`
	ContinueOnError bool              `json:"continue_on_error,omitempty" jsonschema:"go on when it fails" default:"false"`
}

type pipelineReport struct {
	Steps     []stepReport               `json:"steps" from:"@derived"`
	Variables map[string]json.RawMessage `json:"variables" from:"@derived"`
	TotalMS   int                        `json:"total_duration_ms" from:"@derived"`
	Aborted   bool                       `json:"aborted" from:"@derived"`

	// Every step is in one of these.
	Done    []string `json:"done" from:"@derived"`
	Failed  []string `json:"failed" from:"@derived"`  // its handler ran
	Refused []string `json:"refused" from:"@derived"` // it did not
	NotRun  []string `json:"not_run" from:"@derived"`
	remarks

	Texts []string `json:"-" from:"@derived"` // what each step answered
}

// stepReport is a step that was made or skipped. Those after an abort are in
// not_run alone.
type stepReport struct {
	ID         string          `json:"id"`
	Tool       string          `json:"tool"`
	Status     string          `json:"status"` // success, error or skipped
	Result     json.RawMessage `json:"result,omitempty"`
	Error      *stepError      `json:"error,omitempty"`
	DurationMS int             `json:"duration_ms"`
}

type stepError struct {
	Code      mcpcore.Code `json:"code"`
	Message   string       `json:"message"`
	Retriable bool         `json:"retriable"`
}

// name is the step's id, or what it is called without one.
func (s *pipelineStep) name(i int) string {
	if s.ID == "" {
		return fmt.Sprintf("step_%d", i)
	}
	return s.ID
}

// pipelineSteps says what a pipeline may do. References to what cannot be a
// result are settled here already: such a step depends on nothing.
func pipelineSteps(call *mcpcore.Call) ([]mcpcore.Step, error) {
	var in pipeline
	if err := call.Bind(&in); err != nil {
		return nil, err
	}
	steps := make([]mcpcore.Step, len(in.Steps))
	known := map[string]bool{}
	for i, s := range in.Steps {
		f := argFiller{known: known}
		filled, err := f.fill(json.RawMessage(s.Args))
		if err != nil {
			return nil, err
		}
		if f.depends {
			filled = json.RawMessage(s.Args)
		}
		steps[i] = mcpcore.Step{Tool: s.Tool, Args: filled, Depends: f.depends, At: fmt.Sprintf("steps.%d.args", i)}
		known[s.name(i)] = true
		if s.SaveAs != "" {
			known[s.SaveAs] = true
		}
	}
	return steps, nil
}

func runPipeline(ctx context.Context, a *api, in pipeline) (v pipelineReport, err error) {
	v.Variables = map[string]json.RawMessage{}
	start := time.Now()
	if !v.misnamed(a.call, in.Steps) {
		v.run(ctx, a.call, in.Steps)
	}
	v.TotalMS = int(time.Since(start).Milliseconds())
	v.shorten(a.call)
	return v, nil
}

// misnamed refuses, before anything is done, a pipeline with a step that no
// arguments could make good: one whose tool is not there or is a pipeline.
func (v *pipelineReport) misnamed(call *mcpcore.Call, steps []pipelineStep) bool {
	faults := map[int]mcpcore.StepOutcome{}
	for i := range steps {
		if fault, found := call.StepFault(i); found {
			faults[i] = fault
		}
	}
	for i := 0; i < len(steps) && len(faults) > 0; i++ {
		if fault, found := faults[i]; found {
			v.note(i, steps[i], fault, 0)
		} else {
			v.skip(i, steps[i])
		}
	}
	v.Aborted = len(faults) > 0
	return v.Aborted
}

func (v *pipelineReport) run(ctx context.Context, call *mcpcore.Call, steps []pipelineStep) {
	so := stepResults{}
	declared := call.Steps()
	for i, s := range steps {
		switch {
		case v.Aborted || ctx.Err() != nil: // also between two steps, so that no write follows
			v.Aborted = true
			v.NotRun = append(v.NotRun, s.name(i))
			continue
		case s.If != "" && !so.holds(s.If):
			v.skip(i, s)
			continue
		}
		call.Progress(ctx, float64(i), float64(len(steps)), fmt.Sprintf("step %d of %d: %s", i+1, len(steps), s.Tool))
		start := time.Now()
		o := makeStep(ctx, call, i, declared[i], so)
		v.note(i, s, o, time.Since(start))
		switch {
		case o.Err != nil:
			v.Aborted = !s.ContinueOnError
		default:
			names := []string{s.name(i), s.SaveAs}
			so.keep(o.Data, names...)
			for _, name := range names {
				if name != "" {
					v.Variables[name] = o.Data
				}
			}
		}
	}
	call.Progress(ctx, float64(len(steps)), float64(len(steps)), "done")
}

func makeStep(ctx context.Context, call *mcpcore.Call, i int, declared mcpcore.Step, so stepResults) mcpcore.StepOutcome {
	if !declared.Depends {
		return call.Step(ctx, i, nil)
	}
	f := argFiller{stepResults: so}
	filled, err := f.fill(declared.Args)
	if err != nil {
		e := mcpcore.Invalid(mcpcore.Issue{Path: "args", Message: err.Error(), Code: mcpcore.IssueBig})
		return mcpcore.StepOutcome{Err: e, Text: e.Error()}
	}
	return call.Step(ctx, i, filled)
}

// note reports a step that was made.
func (v *pipelineReport) note(i int, s pipelineStep, o mcpcore.StepOutcome, took time.Duration) {
	name := s.name(i)
	r := stepReport{ID: name, Tool: s.Tool, Status: "success", Result: o.Data, DurationMS: int(took.Milliseconds())}
	word := "done"
	switch {
	case o.Err == nil:
		v.Done = append(v.Done, name)
	case o.Ran:
		word = "failed"
		v.Failed = append(v.Failed, name)
	default:
		word = "refused"
		v.Refused = append(v.Refused, name)
	}
	if o.Err != nil {
		r.Status, r.Error = "error", &stepError{o.Err.Code, o.Text, o.Err.Code.Retriable()}
	}
	v.Steps = append(v.Steps, r)
	v.Texts = append(v.Texts, fmt.Sprintf("## %s: %s, %s\n\n%s", name, s.Tool, word, o.Text))
}

func (v *pipelineReport) skip(i int, s pipelineStep) {
	name := s.name(i)
	v.Steps = append(v.Steps, stepReport{ID: name, Tool: s.Tool, Status: "skipped"})
	v.NotRun = append(v.NotRun, name)
	v.Texts = append(v.Texts, fmt.Sprintf("## %s: %s, skipped", name, s.Tool))
}

// shorten keeps the report small enough for hosts: variables go first, since
// they repeat the steps' results, then the largest results of steps that read. What
// a step that wrote answered stays.
func (v *pipelineReport) shorten(call *mcpcore.Call) {
	size := func() int {
		b, err := canon.Marshal(v)
		if err != nil {
			return 0
		}
		return len(b)
	}
	if size() <= maxData {
		return
	}
	v.Variables = map[string]json.RawMessage{}
	v.Warnings = []string{"variables are left out for the size of the answer"}
	var dropped []string
	for size() > maxData {
		largest := -1
		for i, s := range v.Steps {
			t, known := call.Peer(s.Tool)
			if known && t.Effect == mcpcore.Read && s.Error == nil && (largest < 0 || len(s.Result) > len(v.Steps[largest].Result)) {
				largest = i
			}
		}
		if largest < 0 || v.Steps[largest].Result == nil {
			break
		}
		v.Steps[largest].Result = nil
		dropped = append(dropped, v.Steps[largest].ID)
	}
	if dropped != nil {
		v.Warnings = append(v.Warnings, "so are the results of "+strings.Join(dropped, ", ")+": call their tools alone, or ask for less")
	}
}

// Text is what each step answered, as far as there is room, and which of them
// did what.
func (v *pipelineReport) Text() string {
	var b strings.Builder
	for _, text := range v.Texts {
		if b.Len()+len(text) > mcpcore.MaxText {
			heading, _, _ := strings.Cut(text, "\n")
			text = heading + "\n\nIts answer is in the structured content."
		}
		b.WriteString(text)
		b.WriteString("\n\n")
	}
	for _, list := range []struct {
		word  string
		names []string
	}{{"Done", v.Done}, {"Failed", v.Failed}, {"Refused", v.Refused}, {"Not run", v.NotRun}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "%s: %s. ", list.word, strings.Join(list.names, ", "))
		}
	}
	return strings.TrimSpace(b.String())
}
