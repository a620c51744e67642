package postgres

// OpenAt is Open with a clock of the test's.
var OpenAt = open
