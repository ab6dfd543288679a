import { type OperationCase, replaceAt, type Subject } from '../case/case.ts'

/** What was done about an operation so far. */
export function caseOf(subject: Subject, operationId: string): OperationCase {
  return (
    subject.operationCases.find(known => known.operationId === operationId) ?? {
      operationId,
      look: null,
      driftsTold: [],
      settledAs: null,
    }
  )
}

export function withCase(subject: Subject, next: OperationCase): Subject {
  const cases = subject.operationCases
  const index = cases.findIndex(known => known.operationId === next.operationId)
  return { ...subject, operationCases: index < 0 ? [...cases, next] : replaceAt(cases, index, next) }
}
