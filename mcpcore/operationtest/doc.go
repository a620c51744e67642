// Package operationtest holds what workflows and their ledgers promise, as
// tests. Run checks an implementation of [mcpcore.OperationLedger]; Workflow
// checks the rules of reviewed workflows on a declaration, through a real client:
//
//	func TestInvoice(t *testing.T) {
//		operationtest.Workflow(t, operationtest.Subject{
//			Workflow: "invoice-sending", Plan: "plan_invoice_sending", Execute: "execute_invoice_sending",
//			World: newWorld, Args: `{"invoice":"2031-7"}`, Sends: []string{"POST /invoices/2031-7/send"},
//			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"customers": {"c-1"}}},
//		})
//	}
package operationtest
