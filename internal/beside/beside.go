// Package beside finds files that tests look at and that are not part of the
// project: descriptions that stand beside the checkout or where an environment
// variable says.
package beside

import (
	"os"
	"path/filepath"
)

// Find is the path that the environment variable holds, or else
// ../shared/path beside the directory that holds the go.mod above the working
// directory.
func Find(variable, path string) (found string, ok bool) {
	if found = os.Getenv(variable); found != "" {
		return found, true
	}
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			found = filepath.Join(filepath.Dir(dir), "shared", filepath.FromSlash(path))
			_, err = os.Stat(found)
			return found, err == nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}
