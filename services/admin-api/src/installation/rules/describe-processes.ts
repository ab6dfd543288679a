import { type Process, type ProcessDocument, SERVICES } from '@backstop/contracts'

/** A process that has not reported for this long is silent, in milliseconds. It misses three reports before. */
const SILENT_AFTER_MS = 60_000

/** The processes as the API shows them. Each process that started later stands for one silent process of its service. */
export function describeProcesses(documents: readonly ProcessDocument[], nowMs: number): Process[] {
  const isSilent = ({ reported_at }: ProcessDocument) => nowMs - reported_at.getTime() >= SILENT_AFTER_MS
  const oldestFirst = documents.toSorted((a, b) => a.started_at.getTime() - b.started_at.getTime())
  const successors = oldestFirst.filter(document => !isSilent(document))
  const stateOf = (document: ProcessDocument): Process['state'] => {
    if (!isSilent(document)) return document.unready === null ? 'ready' : 'not_ready'
    const at = successors.findIndex(
      ({ service, started_at }) => service === document.service && started_at >= document.reported_at,
    )
    if (at < 0) return 'silent'
    successors.splice(at, 1)
    return 'replaced'
  }
  const described = oldestFirst.map(document => {
    const { _id, started_at, reported_at, ...shown } = document
    return {
      process_id: _id,
      ...shown,
      started_at: started_at.toISOString(),
      reported_at: reported_at.toISOString(),
      state: stateOf(document),
    }
  })
  return SERVICES.flatMap(service => described.filter(shown => shown.service === service).toReversed())
}
