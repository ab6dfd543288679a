import type { InstallationWork, Processes } from '../../api/system.ts'
import { formatDuration } from '../../format/times.ts'

/** The rows of "Work that waits". */
export type WorkRow = 'verdicts' | 'messages' | 'deliveries' | 'retrying' | 'providers'

/** Work that waits for longer is late. The services send and deliver within seconds, in seconds. */
const LATE_AFTER_S = 60

/** What is wrong with the work that waits, by row: one rule for the badges and for the sentence above them. */
export function faultsOf({ verdicts, messages, deliveries, providers }: InstallationWork): Map<WorkRow, string> {
  const faults = new Map<WorkRow, string>()
  if (verdicts.overdue > 0) faults.set('verdicts', `${many(verdicts.overdue, 'verdict')} overdue`)
  if (isLate(messages)) faults.set('messages', `${many(messages.count, 'message')} to Kafka ${waits(messages)}`)
  if (isLate(deliveries.pending)) {
    faults.set('deliveries', `${many(deliveries.pending.count, 'delivery')} ${waits(deliveries.pending)}`)
  }
  const { retrying } = deliveries
  if (retrying.count > 0) faults.set('retrying', `${many(retrying.count, 'delivery')} failed and ${repeated(retrying)}`)
  const unread = providers.unreadable + providers.silent
  if (unread > 0)
    faults.set('providers', `${many(unread, 'connection')} cannot be read or ${unread === 1 ? 'is' : 'are'} silent`)
  return faults
}

/**
 * The first sentence of the page: what is wrong, or that nothing is.
 * @param letters the dead letters that were read
 * @param work undefined for a person who may not see the work of the installation, who may not see the processes either
 */
export function systemSentence(
  letters: { readonly count: number; readonly hasMore: boolean },
  work: InstallationWork | undefined,
  processes: Processes = [],
): string {
  const deadLetters =
    letters.count === 0 ? [] : [`${letters.hasMore ? 'more than ' : ''}${many(letters.count, 'dead letter')}`]
  const unready = processes.filter(({ state }) => state === 'not_ready' || state === 'silent').length
  const notReady = unready === 0 ? [] : [`${many(unready, 'process')} not ready or silent`]
  const faults = [...notReady, ...deadLetters, ...(work === undefined ? [] : faultsOf(work).values())]
  if (faults.length === 0) return work === undefined ? 'No dead letters' : 'No dead letters, and no work is late'
  const sentence = faults.join('; ')
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
}

type Waiting = InstallationWork['messages']

const isLate = ({ count, oldest_seconds }: Waiting) => count > 0 && oldest_seconds >= LATE_AFTER_S
const oldest = ({ oldest_seconds }: Waiting) => `the oldest for ${formatDuration(oldest_seconds * 1_000)}`
const waits = (work: Waiting) => `${work.count === 1 ? 'waits' : 'wait'}, ${oldest(work)}`
const repeated = (work: Waiting) => `${work.count === 1 ? 'is' : 'are'} repeated, ${oldest(work)}`

function many(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : noun.endsWith('s') ? `${noun}es` : `${noun}s`
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
