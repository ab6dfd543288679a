import { HEADERS } from '@backstop/contracts'
import type { Case } from '../case/case.ts'

/**
 * Adds the trace of an input to its results: to the new messages, whose consumers continue it, and to the incidents that
 * it opened.
 * @param before the case before the input
 * @param traceparent the span that processes the input
 */
export function stampTrace(next: Case, before: Case, traceparent: string, now: number): Case {
  if (next.outbox === before.outbox) return next
  const earlier = new Set(before.outbox)
  const changedIncidents = new Set<string>()
  const outbox = next.outbox.map(entry => {
    if (earlier.has(entry)) return entry
    if (entry.topic === 'incidents') changedIncidents.add(entry.key)
    return { ...entry, headers: { ...entry.headers, [HEADERS.traceparent]: traceparent } }
  })
  if (changedIncidents.size === 0) return { ...next, outbox }
  const traceId = traceparent.slice(3, 35)
  const actions = next.actions.map(record => {
    const isOpened = ({ id, openedAt }: (typeof record.incidents)[number]) =>
      openedAt === now && changedIncidents.has(id)
    if (!record.incidents.some(isOpened)) return record
    return { ...record, incidents: record.incidents.map(known => (isOpened(known) ? { traceId, ...known } : known)) }
  })
  return { ...next, outbox, actions }
}
