package sqlite

// OpenAt is Open with a clock of the test's.
var OpenAt = open

// Source is the name that the driver is given.
var Source = source
