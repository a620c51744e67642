//go:build race

package main_test

// raced is whether these tests, and so the command they run, look for races.
const raced = true
