import { ERROR_CODES, eventInMessage, HEADERS } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { DeadLettered, DeadLetterLog } from '@backstop/kit/consume'
import { AppError } from '@backstop/kit/errors'
import type { ConnectionReader } from '../connections/connection-reader.ts'
import type { Inbox, InboxEntry } from '../inbox/inbox-store.ts'
import { inboxEntry } from './reconcile-batch.ts'
import { type ItemEffects, itemOfEvent } from './work-item.ts'

export interface DeadLetteredEventsOptions {
  readonly inbox: Pick<Inbox, 'known' | 'insert' | 'decideAgain'>
  readonly connections: Pick<ConnectionReader, 'byIds'>
  readonly clock: Clock
}

/**
 * Records dead-lettered events in the inbox. The event did arrive, so its feed is not silent; people find the event in
 * the inbox; and a repeat of it is not dead-lettered again. Messages without an event id are dead-lettered without an
 * inbox entry. The body of an event is not stored after its connection was deleted, because it was erased with the others.
 */
export function createDeadLetteredEvents({ inbox, connections, clock }: DeadLetteredEventsOptions): DeadLetterLog {
  async function entriesOf(unusable: readonly DeadLettered[]): Promise<InboxEntry[]> {
    const now = clock.now()
    const found = unusable.flatMap(({ message, error }) => {
      const event = eventInMessage(message)
      return event === undefined ? [] : [{ event, headers: message.headers, reason: reasonOf(error) }]
    })
    const known = await connections.byIds([...new Set(found.map(({ event }) => event.connection_id))])
    return found.flatMap(({ event, headers, reason }) => {
      const outcome = { outcome: 'parked', reason } as const
      const effects: ItemEffects = {
        ...{ caseInputs: [], outcome, reread: null, unusable: [] },
        ...(known.get(event.connection_id)?.status === 'deleted' ? { isBodyErased: true } : {}),
      }
      return inboxEntry({ item: itemOfEvent(event, headers), effects }, new Map(), new Map(), now)
    })
  }
  return {
    async known(messages) {
      const named = messages.flatMap(message => {
        const event = eventInMessage(message)
        return event === undefined ? [] : [{ message, inboxId: itemOfEvent(event).inboxId }]
      })
      const known = await inbox.known(named.map(({ inboxId }) => inboxId))
      return new Set(named.flatMap(({ message, inboxId }) => (known.has(inboxId) ? [message] : [])))
    },
    async record(unusable) {
      await inbox.insert(await entriesOf(unusable))
    },
    async recordAgain(unusable) {
      const replayed = unusable.filter(({ message }) => message.headers[HEADERS.replayId] !== undefined)
      await inbox.decideAgain((await entriesOf(replayed)).map(({ document }) => document))
    },
  }
}

/** Only the log has the message of an unexpected error, because that message may quote personal data of the event. */
function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.message : ERROR_CODES.internal.title
}
