import { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../src/registry.ts'
import type { Normalised, ObservedSubscription } from '../src/sighting.ts'
import {
  type DecisionRow,
  documentedEvents,
  readDecisions,
  readSubscribedEvents,
  withFields,
} from './decision-table.ts'
import { wordsOf } from './decision-words.ts'
import { SAMPLES } from './samples/index.ts'

const ORIGIN = { projectId: 'prj_1', connectionId: 'con_1' }
const READ = { ...ORIGIN, site: 'acme', readAt: Date.parse('2025-11-30T00:00:00Z') }

/** The value of a table cell in the provider's form. A day, for example, is Unix time or text. */
function parseValue(kind: ProviderKind, text: string): unknown {
  if (text === '[refund]') return [SAMPLES.processor.objects.refund]
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return kind === 'reseller' ? `${text}T00:00:00Z` : Date.parse(text) / 1000
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The sighting of a subscription; null for an object of another type. */
function snapshot(
  kind: ProviderKind,
  object: Record<string, unknown>,
  type = 'subscription',
): ObservedSubscription | null {
  const meaning = PROVIDERS[kind].normaliseObject(READ, type, object)
  const first = meaning.kind === 'observed' ? meaning.sightings[0] : undefined
  return first?.kind === 'subscription' ? first : null
}

interface Shown {
  readonly meaning: Normalised
  readonly before: ObservedSubscription | null
}

/** The meaning of a row at each provider. Events of processor and reseller contain the object; events of the biller are hints. */
const SHOW: Record<ProviderKind, (row: DecisionRow) => Shown> = {
  processor(row) {
    const event = SAMPLES.processor.events[row.event] as { data: { object: object } } | undefined
    const value = (text: string) => parseValue('processor', text)
    const ofEvent = row.now.filter(({ path: [first] }) => first === 'request')
    const now = withFields(
      event?.data.object ?? {},
      row.now.filter(field => !ofEvent.includes(field)),
      value,
    )
    const previous = row.before === null ? undefined : withFields({}, row.before, value)
    // Only updates contain the previous values.
    const hasPrevious = previous !== undefined && (row.event.endsWith('.updated') || row.event === 'charge.refunded')
    const data = { object: now, ...(hasPrevious ? { previous_attributes: previous } : {}) }
    const origin = { ...ORIGIN, eventId: 'evt_1', eventType: row.event }
    const meaning = PROVIDERS.processor.normaliseEvent(origin, { ...withFields(event ?? {}, ofEvent, value), data })
    const before = previous === undefined ? null : snapshot('processor', { ...now, ...previous }, String(now.object))
    return { meaning, before }
  },
  reseller(row) {
    const event = SAMPLES.reseller.events[row.event] as { data: object } | undefined
    const value = (text: string) => parseValue('reseller', text)
    const origin = { ...ORIGIN, eventId: 'evt_1', eventType: row.event }
    const data = withFields(event?.data ?? {}, row.now, value)
    const meaning = PROVIDERS.reseller.normaliseEvent(origin, { ...event, data })
    const known =
      row.event === 'subscription.updated' ? (event?.data ?? {}) : (SAMPLES.reseller.objects.subscription as object)
    return { meaning, before: snapshot('reseller', withFields(known, row.before ?? [], value)) }
  },
  subscription(row) {
    const event = SAMPLES.subscription.events[row.event] ?? {}
    const value = (text: string) => parseValue('subscription', text)
    const hint = PROVIDERS.subscription.normaliseEvent({ ...ORIGIN, eventId: 'ev_1', eventType: row.event }, event)
    const type = hint.kind === 'hint' ? hint.targets[0]?.type : undefined
    const known = type === undefined ? undefined : SAMPLES.subscription.objects[type]
    if (type === undefined || known === undefined) return { meaning: hint, before: null }
    const meaning = PROVIDERS.subscription.normaliseObject(READ, type, withFields(known, row.now, value))
    return { meaning, before: snapshot('subscription', withFields(known, row.before ?? [], value)) }
  },
}

for (const kind of ProviderKind.options) {
  describe(`docs/decisions/${kind}.md holds for`, () => {
    const rows = readDecisions(kind)

    test.each(rows)('$event: $shows', row => {
      const { meaning, before } = SHOW[kind](row)
      expect(wordsOf(meaning, before)).toBe(row.records)
    })

    test('every event type that is judged or recorded', () => {
      expect(rows.map(row => row.event)).toEqual(expect.arrayContaining(Object.keys(SAMPLES[kind].events)))
    })

    test('every event of the page, and no other', () => {
      expect(documentedEvents(kind).toSorted()).toEqual([...new Set(rows.map(row => row.event))].toSorted())
    })

    test('the events to subscribe to, which the page lists at its top', () => {
      expect(readSubscribedEvents(kind)).toEqual(PROVIDERS[kind].subscribedEvents)
    })
  })
}

describe('the phases before an update of the processor', () => {
  const rows = readDecisions('processor').filter(row => row.event === 'customer.subscription.updated')

  test.each(rows.filter(row => row.before !== null))('agree with the known state: $shows', row => {
    const { meaning, before } = SHOW.processor(row)
    const said = meaning.kind === 'observed' ? meaning.sightings[0] : undefined
    if (said?.kind !== 'subscription') throw new Error('The row shows no subscription')
    const { cancellation, pause } = said.before ?? { cancellation: null, pause: null }
    if (cancellation !== null) expect(cancellation).toBe(before?.cancellation.phase)
    if (pause !== null) expect(pause).toBe(before?.pause.phase)
    // A changed phase is always given, so that the change is visible even if the previous event was lost.
    if (before?.cancellation.phase !== said.cancellation.phase) expect(cancellation).not.toBeNull()
    if (before?.pause.phase !== said.pause.phase) expect(pause).not.toBeNull()
  })
})
