package audit

import "time"

// await asks until the answer is not busy; ErrLocked when it still is after the
// wait.
func await(wait time.Duration, ask func() (busy bool, err error)) error {
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		busy, err := ask()
		switch {
		case err != nil || !busy:
			return err
		case time.Now().After(deadline):
			return ErrLocked
		}
		time.Sleep(pause)
	}
}
