package boot

// Names are the variables that mean something here, for the tests.
var Names = names
