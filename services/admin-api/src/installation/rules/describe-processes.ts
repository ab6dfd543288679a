import { Process, type ProcessDocument, SERVICES } from '@backstop/contracts'
import { showDocument } from '../../rules/show-document.ts'

/** A process that has not reported for this long is silent, in milliseconds. It misses three reports before. */
const SILENT_AFTER_MS = 60_000

/**
 * The processes as the API shows them. Each process that started later stands for one silent process of its service, also when it is silent
 * itself: of a service whose processes end again and again, only the last one is silent.
 */
export function describeProcesses(documents: readonly ProcessDocument[], nowMs: number): Process[] {
  const isSilent = ({ reported_at }: ProcessDocument) => nowMs - reported_at.getTime() >= SILENT_AFTER_MS
  const oldestFirst = documents.toSorted((a, b) => a.started_at.getTime() - b.started_at.getTime())
  const replaced = findReplaced(documents.filter(isSilent), oldestFirst)
  const stateOf = (document: ProcessDocument): Process['state'] => {
    if (!isSilent(document)) return document.unready === null ? 'ready' : 'not_ready'
    return replaced.has(document._id) ? 'replaced' : 'silent'
  }
  const described = oldestFirst.map(document =>
    showDocument(Process, document, { process_id: document._id, state: stateOf(document) }),
  )
  return SERVICES.flatMap(service => described.filter(shown => shown.service === service).toReversed())
}

/** The ids of those with a successor. In the order of the last reports, so that a process that falls silent takes no other's successor. */
function findReplaced(silent: readonly ProcessDocument[], oldestFirst: readonly ProcessDocument[]): Set<string> {
  const successors = [...oldestFirst]
  const replaced = new Set<string>()
  for (const { _id, service, reported_at } of silent.toSorted((a, b) => +a.reported_at - +b.reported_at)) {
    const at = successors.findIndex(
      other => other._id !== _id && other.service === service && other.started_at >= reported_at,
    )
    if (at < 0) continue
    successors.splice(at, 1)
    replaced.add(_id)
  }
  return replaced
}
