import { ERROR_CODES, INBOUND_TOPICS, InboundEvent, unframe } from '@backstop/contracts'
import { AppError, type Clock, type DeadLetterLog, type IncomingMessage } from '@backstop/kit'
import type { Inbox } from '../store/store.ts'
import { inboxEntry } from './reconcile-batch.ts'
import { itemOfEvent } from './work-item.ts'

export interface DeadLetteredEventsOptions {
  readonly inbox: Pick<Inbox, 'known' | 'insert'>
  readonly clock: Clock
}

/**
 * Records dead-lettered events in the inbox. The event did arrive, so its feed is not silent; people find the event in
 * the inbox; and a repeat of it is not dead-lettered again. Messages without an event id are dead-lettered without an
 * inbox entry.
 */
export function createDeadLetteredEvents({ inbox, clock }: DeadLetteredEventsOptions): DeadLetterLog {
  return {
    async known(messages) {
      const named = messages.flatMap(message => {
        const event = eventIn(message)
        return event === undefined ? [] : [{ message, inboxId: itemOfEvent(event).inboxId }]
      })
      const known = await inbox.known(named.map(({ inboxId }) => inboxId))
      return new Set(named.flatMap(({ message, inboxId }) => (known.has(inboxId) ? [message] : [])))
    },
    async record(unusable) {
      const now = clock.now()
      const entries = unusable.flatMap(({ message, error }) => {
        const event = eventIn(message)
        if (event === undefined) return []
        const outcome = { outcome: 'parked', reason: reasonOf(error) } as const
        const reading = { caseInputs: [], outcome, reread: null, unusable: [] }
        return inboxEntry({ item: itemOfEvent(event), reading }, new Map(), now)
      })
      await inbox.insert(entries)
    },
  }
}

const TOPICS: ReadonlySet<string> = new Set(Object.values(INBOUND_TOPICS))

/**
 * The envelope is written by ingress, so it is readable even if its schema version is unknown or its body is not an
 * object.
 */
const Envelope = InboundEvent.extend({ body: InboundEvent.shape.body.catch({}) })

/** The event that a message contains, even if the event cannot be used; undefined if the message contains none. */
function eventIn({ topic, value }: IncomingMessage): InboundEvent | undefined {
  if (!TOPICS.has(topic)) return undefined
  const unframed = unframe(value)
  if (unframed.kind === 'not_framed') return undefined
  try {
    return Envelope.safeParse(JSON.parse(unframed.json.toString())).data
  } catch {
    return undefined
  }
}

/** Only the log has the message of an unexpected error, because that message may quote personal data of the event. */
function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.message : ERROR_CODES.internal.title
}
