package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// terminal is the one that a person sits at, whatever the standard streams are:
// what comes through them an agent may have written.
type terminal struct{ in, out *os.File }

var errNoTerminal = errors.New("there is no terminal to ask for the approver's token, which is taken from no flag, no variable and no pipe. Run this command yourself, at a terminal")

// openTerminal opens the terminal of this process.
func openTerminal() (*terminal, error) {
	in, out, err := terminalFiles()
	if err != nil {
		return nil, errNoTerminal
	}
	t := &terminal{in, out}
	if !term.IsTerminal(int(in.Fd())) {
		t.close()
		return nil, errNoTerminal
	}
	return t, nil
}

func (t *terminal) close() {
	_ = t.in.Close()
	_ = t.out.Close()
}

// secret shows a text, asks, and reads a line that is not shown, from before the
// prompt on. A signal that ends the process leaves the terminal as it was.
func (t *terminal) secret(text, prompt string) (string, error) {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("the terminal cannot hide what is typed, so nothing was asked: %w", err)
	}
	defer func() { _ = term.Restore(fd, before) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1) // the process ends before a reading that nobody waits for
	go func() {
		screen := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{t.in, t.out}, "")
		_, err := io.WriteString(screen, text)
		var line string
		if err == nil {
			line, err = screen.ReadPassword(prompt)
		}
		answers <- answer{line, err}
	}()
	select {
	case a := <-answers:
		if a.err == nil {
			return a.line, nil
		}
		if !errors.Is(a.err, io.EOF) { // the keys that end it
			return "", fmt.Errorf("nothing was decided: %w", a.err)
		}
	case <-signals:
	}
	_, _ = io.WriteString(t.out, "\r\n")
	return "", errors.New("nothing was decided, and it still waits")
}
