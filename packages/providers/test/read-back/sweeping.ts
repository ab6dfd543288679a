import type { ReadObject } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import type { ListedEvent, SweepCursor, SweepPage } from '../../src/read-back.ts'
import { forwardTo, withOtherId } from './answers.ts'
import { MINUTE, START, useReaderHarness } from './reader-harness.ts'
import type { OpenTestAccount } from './test-accounts.ts'

/** A list of events in which the event with this id has no field except its id. */
function withoutTypeAndTime(body: string, id: string): string {
  return JSON.stringify(JSON.parse(body), (_, value) => {
    const isWanted = typeof value === 'object' && value !== null && (value.id === id || value.event_id === id)
    if (!isWanted) return value
    return value.event_id === id ? { event_id: id } : { id }
  })
}

type ReadNextPage = (cursor: SweepCursor | null) => Promise<SweepPage>

/**
 * A sweep must skip no change and must end, also while the account changes. The baseline must have the scheduled ends and pauses.
 */
export function describeSweeps(provider: Provider, openTestAccount: OpenTestAccount): void {
  const harness = useReaderHarness(provider, openTestAccount)

  describe(`a sweep of the ${provider.kind}`, () => {
    const since = START - MINUTE

    test('finds every refund, every end and pause, and every event, over many pages', async () => {
      const { account, reader } = await harness.openAccount()
      const refunds: string[] = []
      for (let count = 0; count < 230; count++) {
        harness.clock.advance(1_000)
        refunds.push(account.refund().refundId)
      }
      const ends = [account.subscribe(), account.subscribe(), account.subscribe()] as const
      account.cancel(ends[0])
      account.cancelLater(ends[1])
      account.pause(ends[2])
      const found = await walkAll(cursor => reader.changes(cursor, since))
      expect(refundsIn(found.objects)).toEqual(new Set(refunds))
      expect(phasesIn(found.objects)).toEqual({
        [ends[0]]: 'executed/none',
        [ends[1]]: 'scheduled/none',
        [ends[2]]: expect.stringMatching(/^none\/(scheduled|paused)$/),
      })
      const listed = new Set(found.events.map(event => event.eventId))
      const subscribed = account.events().filter(event => provider.subscribedEvents.includes(event.type))
      expect(subscribed.filter(event => !listed.has(event.id))).toEqual([])
      expect(found.pages).toBeGreaterThan(4)
    })

    test('continues after a restart, and skips no refund that is made during the sweep', async () => {
      const { account, reader } = await harness.openAccount()
      const refunds: string[] = []
      const makeRefunds = (times: number) => {
        for (let count = 0; count < times; count++) {
          harness.clock.advance(700)
          refunds.push(account.refund().refundId)
        }
      }
      makeRefunds(150)
      const found: ReadObject[] = []
      let cursor: SweepCursor | null = null
      for (let round = 0; round < 3; round++) {
        const walked = await walkAll(async at => {
          makeRefunds(3)
          return harness.openReader(account.api.url).changes(at, since)
        }, cursor)
        found.push(...walked.objects)
        cursor = walked.cursor
        harness.clock.advance(5 * MINUTE)
      }
      const made = new Set(refunds)
      found.push(...(await walkAll(at => reader.changes(at, since), cursor)).objects)
      expect(refundsIn(found)).toEqual(made)
    })

    test('finds an object that became visible after the previous sweep', async () => {
      const { account, reader } = await harness.openAccount()
      account.api.lagReads(10 * MINUTE)
      const late = account.refund()
      harness.clock.advance(9 * MINUTE)
      const first = await walkAll(cursor => reader.changes(cursor, since))
      expect(first.objects).toEqual([])
      harness.clock.advance(2 * MINUTE)
      const second = await walkAll(cursor => reader.changes(cursor, since), first.cursor)
      expect(refundsIn(second.objects)).toEqual(new Set([late.refundId]))
    })

    test('finds only recent changes after the first walk', async () => {
      const { account, reader } = await harness.openAccount()
      account.refund()
      const first = await walkAll(cursor => reader.changes(cursor, since))
      expect(refundsIn(first.objects).size).toBe(1)
      harness.clock.advance(60 * MINUTE)
      const second = await walkAll(cursor => reader.changes(cursor, since), first.cursor)
      harness.clock.advance(60 * MINUTE)
      const recent = account.refund()
      const third = await walkAll(cursor => reader.changes(cursor, since), second.cursor)
      expect(refundsIn(third.objects)).toEqual(new Set([recent.refundId]))
    })

    test('finds nothing from before its start time', async () => {
      const { account, reader } = await harness.openAccount()
      account.refund()
      harness.clock.advance(60 * MINUTE)
      const recent = account.refund()
      const found = await walkAll(cursor => reader.changes(cursor, harness.clock.now() - MINUTE))
      expect(refundsIn(found.objects)).toEqual(new Set([recent.refundId]))
      expect(found.events.every(event => event.createdAt >= harness.clock.now() - 2 * MINUTE)).toBe(true)
    })

    test('restarts a list once when the provider does not know the page', async () => {
      const { account, reader } = await harness.openAccount()
      const refunds = Array.from({ length: 120 }, () => account.refund().refundId)
      const first = await reader.changes(null, since)
      const lost = { ...(first.kind === 'page' ? first.cursor : {}), page: 're_nowhere' }
      const found = await walkAll(cursor => reader.changes(cursor, since), lost)
      expect(refundsIn(found.objects)).toEqual(new Set(refunds))
      expect(await reader.changes({ ...lost, again: 'yes' }, since)).toMatchObject({ failure: 'question_refused' })
    })

    test('returns no part of a page that failed, and reads it later', async () => {
      const { account, reader } = await harness.openAccount()
      const { refundId } = account.refund()
      account.api.setTrouble({ kind: 'error', status: 403, times: 1 })
      expect(await reader.changes(null, since)).toMatchObject({ kind: 'failed', failure: 'key_refused' })
      const found = await walkAll(cursor => reader.changes(cursor, since))
      expect(refundsIn(found.objects)).toEqual(new Set([refundId]))
    })

    test('returns a page with an unusable item, and the item with its fault', async () => {
      const { account } = await harness.openAccount()
      const refunds = Array.from({ length: 5 }, () => account.refund().refundId)
      const bad = refunds[2] as string
      const server = await harness.serve(
        forwardTo(
          account.api.url,
          path => path,
          body => withOtherId(body, bad, `${bad}\u0007`),
        ),
      )
      const reader = harness.openReader(server.url)
      const found = await walkAll(cursor => reader.changes(cursor, since))
      const sound = found.objects.filter(object => object.fault === undefined)
      // The bad refund may be in the result too, because the biller's credit note names it.
      expect([...refundsIn(sound)]).toEqual(expect.arrayContaining(refunds.filter(id => id !== bad)))
      expect(found.objects.filter(object => object.fault !== undefined)).toContainEqual({
        type: expect.any(String),
        body: expect.objectContaining({ id: `${bad}\u0007` }),
        fault: 'it has no usable id',
      })
    })

    test('returns a page with an event without time or type, and the event with its fault', async () => {
      const { account } = await harness.openAccount()
      account.refund()
      account.refund()
      const [event] = account.events().filter(({ type }) => provider.subscribedEvents.includes(type))
      const server = await harness.serve(
        forwardTo(
          account.api.url,
          path => path,
          body => (body.includes(`"${event?.id}"`) ? withoutTypeAndTime(body, String(event?.id)) : body),
        ),
      )
      const found = await walkAll(cursor => harness.openReader(server.url).changes(cursor, since))
      expect(found.objects.filter(object => object.fault !== undefined)).toMatchObject([
        { type: 'event', fault: expect.stringMatching(/^it is no event$|^it has no time$/) },
      ])
      expect(found.events.map(({ eventId }) => eventId)).not.toContain(event?.id)
      expect(found.events.length).toBeGreaterThan(0)
    })

    test('does not retry a page that failed, because the caller does', async () => {
      const { account, reader } = await harness.openAccount()
      account.api.setTrouble({ kind: 'error', status: 503, times: 1_000 })
      expect(await reader.changes(null, since)).toMatchObject({ failure: 'provider_unavailable' })
      expect(account.api.calls()).toHaveLength(1)
      expect(harness.clock.now() - START).toBeLessThan(1_000)
    })

    test('has exactly the scheduled ends and pauses in its baseline', async () => {
      const { account, reader } = await harness.openAccount()
      const subscriptions = Array.from({ length: 120 }, () => account.subscribe())
      const [ending, pausing, ended, changed] = subscriptions as [string, string, string, string]
      account.cancelLater(ending)
      account.pause(pausing)
      account.cancel(ended)
      account.change(changed)
      const found = await walkAll(cursor => reader.schedules(cursor))
      expect(new Set(Object.keys(phasesIn(found.objects)))).toEqual(new Set([ending, pausing]))
      expect(found.events).toEqual([])
    })
  })

  async function walkAll(read: ReadNextPage, from: SweepCursor | null = null) {
    const objects: ReadObject[] = []
    const events: ListedEvent[] = []
    let cursor = from
    for (let pages = 1; pages <= 100; pages++) {
      // A cursor is stored as JSON, so it must survive the conversion.
      const page = await read(cursor === null ? null : JSON.parse(JSON.stringify(cursor)))
      if (page.kind === 'failed') throw new Error(page.text)
      expect(page.objects.length).toBeLessThanOrEqual(100)
      objects.push(...page.objects)
      events.push(...page.events)
      cursor = page.cursor
      if (page.done) return { objects, events, cursor, pages }
    }
    throw new Error('The walk does not end')
  }

  function refundsIn(objects: readonly ReadObject[]): Set<string> {
    return new Set(
      harness.meaningsOf(objects).flatMap(sighting => (sighting.kind === 'action' ? [sighting.providerRef] : [])),
    )
  }

  /** The latest phases of cancellation and pause of each subscription, e.g. `scheduled/none`. */
  function phasesIn(objects: readonly ReadObject[]): Record<string, string> {
    const latest = new Map<string, { asOf: number; phases: string }>()
    for (const sighting of harness.meaningsOf(objects)) {
      if (sighting.kind !== 'subscription') continue
      const { subject, asOf, cancellation, pause } = sighting
      if ((latest.get(subject)?.asOf ?? 0) > asOf) continue
      latest.set(subject, { asOf, phases: `${cancellation.phase}/${pause.phase}` })
    }
    return Object.fromEntries([...latest].map(([id, { phases }]) => [id, phases]))
  }
}
