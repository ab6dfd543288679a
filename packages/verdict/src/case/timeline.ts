import { isoTime, type ReadReason, stateWords, type TimelineEntry } from '@backstop/contracts'
import type { ActionRecord } from './action-record.ts'
import type { SightingSource } from './case.ts'

/** A timeline is for people. If an action gets very many events, only the first entries are kept. */
const MAX_ENTRIES = 100

/** One entry of a timeline, as a text for people. */
export function timelineEntry(at: number, what: TimelineEntry['what'], id: string | null, text: string): TimelineEntry {
  return { at: isoTime(at), what, id, text }
}

export function addToTimeline(record: ActionRecord, ...entries: readonly TimelineEntry[]): ActionRecord {
  return { ...record, timeline: [...record.timeline, ...entries] }
}

const READ_FOR: Record<ReadReason, string> = {
  hint: 'after an event hinted at it',
  second_look: 'at the second look',
  settlement: 'to see how it ended',
  missing_check: 'because an operation says that it was made',
  sweep: 'by the sweep',
  baseline: 'when the connection was made',
}

export function stateOf({ kind, state, isRelease, subscriptionContinues }: ActionRecord): string {
  return stateWords({
    kind,
    state,
    authorization_released: isRelease,
    subscription_continues: subscriptionContinues,
  })
}

/** Adds one entry for each event, and one for each re-read that showed something new. */
export function addSightingToTimeline(
  before: ActionRecord,
  record: ActionRecord,
  source: SightingSource,
  now: number,
): ActionRecord {
  if (record.timeline.length >= MAX_ENTRIES) return record
  const { eventId, eventType, readFor } = source
  if (eventId !== null) {
    const isNew = record.eventIds.includes(eventId) && !before.eventIds.includes(eventId)
    if (!isNew) return record
    const text = readFor === null ? `The provider reported ${eventType}` : `The provider was read after ${eventType}`
    return addToTimeline(record, timelineEntry(now, 'event_received', eventId, text))
  }
  if (readFor === null || (before.timeline.length > 0 && before.state === record.state)) return record
  const text = `The provider's data, read ${READ_FOR[readFor]}, shows it as ${stateOf(record)}`
  return addToTimeline(record, timelineEntry(now, 'read_back', null, text))
}
