import { type Case, type OperationCase, replaceAt } from '../case/case.ts'

/** What was done about an operation so far. */
export function caseOf(theCase: Case, operationId: string): OperationCase {
  return (
    theCase.operationCases.find(known => known.operationId === operationId) ?? {
      operationId,
      look: null,
      driftsTold: [],
      settledAs: null,
    }
  )
}

export function withCase(theCase: Case, next: OperationCase): Case {
  const cases = theCase.operationCases
  const index = cases.findIndex(known => known.operationId === next.operationId)
  return { ...theCase, operationCases: index < 0 ? [...cases, next] : replaceAt(cases, index, next) }
}
