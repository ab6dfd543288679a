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
 * The inbox as the record of dead-lettered events: an event that cannot be used has arrived nevertheless, so its feed is not silent, people
 * find it in the inbox, and its repetition is not dead-lettered again. Messages without an event id are only dead-lettered.
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
        const reading = { touches: [], outcome, reread: null, unusable: [] }
        return inboxEntry({ item: itemOfEvent(event), reading }, new Map(), now)
      })
      await inbox.insert(entries)
    },
  }
}

const TOPICS: ReadonlySet<string> = new Set(Object.values(INBOUND_TOPICS))

/** The envelope is ingress's own, so it can be had where only its schema is not known, or where the body is no object. */
const Envelope = InboundEvent.extend({ body: InboundEvent.shape.body.catch({}) })

/** The event that a message names, whether or not it can be used; undefined where it names none. */
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

/** An error that is not ours may quote the event, which may be personal: the log has it. */
function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.message : ERROR_CODES.internal.title
}
