// Package sql is the ledger that keeps approvals in a database, so that they
// survive a restart and processes share them. It imports no driver: packages
// sqlite and postgres open their own databases, and an embedder brings the
// *sql.DB it has:
//
//	approvals, err := sql.Open(ctx, db, sql.PostgreSQL, stateKey, nil)
//
// The database holds no id that could be used. An approval is found by the
// SHA-256 of its id; the id of an approval that others have to find, what a
// person is shown and what a person decided are sealed with AES-256-GCM under a
// key derived from the operator's secret, and bound to all else that the row
// says. So whoever can write the database but does not know the secret can lose
// approvals and read who asked for which tool, but cannot decide.
package sql
