import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'

/** The operations of what customers' software reported. */
export const REPORT_PROPERTIES: readonly Property[] = [
  { name: 'reports-are-recorded-once', promise: 'client', check: findReportFaults },
]

/** An operation for each report that the API confirmed, in a state that is not before the reported one; and no other. */
function findReportFaults({ truth, evidence }: Case): string[] {
  const operations = new Map(
    evidence.projects.flatMap(({ operations }) =>
      operations.map(operation => [operation.operation_id, operation] as const),
    ),
  )
  const reported = new Set(truth.reports.map(({ operationId }) => operationId))
  const lost = truth.reports.flatMap(({ operationId, state, providerRef }) => {
    const operation = operations.get(operationId)
    if (operation === undefined) return [`The operation ${operationId} was confirmed, and is not in the list`]
    if (providerRef !== undefined && operation.provider_ref !== providerRef)
      return [`The operation ${operationId} was confirmed with the id ${providerRef} and has ${operation.provider_ref}`]
    const isBehind = ['completed', 'failed'].includes(state) && operation.state !== state
    return isBehind ? [`The operation ${operationId} was reported as ${state} and is ${operation.state}`] : []
  })
  const invented = truth.unconfirmedReports > 0 ? [] : [...operations.keys()].filter(id => !reported.has(id))
  return [...lost, ...invented.map(id => `The operation ${id} was not reported`)]
}
