import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'

/** Accepted notifications are stored and decided, or are dead letters. */
export const INBOX_PROPERTIES: readonly Property[] = [
  { name: 'accepted-events-are-recorded', promise: 'stored-before-2xx', check: findLostEvents },
  { name: 'unusable-events-are-dead-lettered', promise: 'dead-letters', check: findSwallowed },
]

/** A notification that was answered with success is in the inbox, and was decided. */
function findLostEvents({ truth, evidence }: Case): string[] {
  const entries = new Map(
    evidence.projects.flatMap(({ inbox }) => inbox.map(entry => [entry.inbox_id, entry] as const)),
  )
  return truth.accepted.flatMap(({ connectionId, eventId }) => {
    const entry = entries.get(`${connectionId}/${eventId}`)
    if (entry === undefined)
      return [`The notification ${eventId} was accepted, and is not in the inbox of ${connectionId}`]
    return entry.outcome === 'parked' && !truth.unusable.includes(eventId)
      ? [`The notification ${eventId} could not be used: ${entry.reason}`]
      : []
  })
}

/** A notification that cannot be used is listed with its outcome, and a dead letter has its bytes. */
function findSwallowed({ truth, evidence }: Case): string[] {
  const letters = evidence.stored.filter(({ place }) => place === 'inbound.dead')
  const entries = evidence.projects.flatMap(({ inbox }) => inbox)
  return truth.accepted
    .filter(({ eventId }) => truth.unusable.includes(eventId))
    .flatMap(({ connectionId, eventId }) => {
      const entry = entries.find(({ inbox_id }) => inbox_id === `${connectionId}/${eventId}`)
      if (entry?.outcome !== 'parked') return [`The unusable notification ${eventId} is ${entry?.outcome}`]
      return letters.some(({ text }) => text.includes(eventId))
        ? []
        : [`The notification ${eventId} has no dead letter`]
    })
}
