import { type Case, type FollowedOperation, replaceAt } from '../case/case.ts'

/** The stored entry of an operation, or an empty one. */
export function followedOperation(theCase: Case, operationId: string): FollowedOperation {
  return (
    theCase.followedOperations.find(known => known.operationId === operationId) ?? {
      operationId,
      look: null,
      reportedDrifts: [],
      outcome: null,
    }
  )
}

export function withFollowedOperation(theCase: Case, next: FollowedOperation): Case {
  const cases = theCase.followedOperations
  const index = cases.findIndex(known => known.operationId === next.operationId)
  return { ...theCase, followedOperations: index < 0 ? [...cases, next] : replaceAt(cases, index, next) }
}
