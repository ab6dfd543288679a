import type { ReadObject } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import type { ListedEvent, SweepCursor, SweepPage } from '../../src/read-back.ts'
import { passOn, withOtherId } from './answers.ts'
import { MINUTE, START, useSetting } from './reader-harness.ts'
import type { OpenWorld } from './test-accounts.ts'

/** A list of events in which the one with this id lost all but its id. */
function withoutTypeAndTime(body: string, id: string): string {
  return JSON.stringify(JSON.parse(body), (_, value) => {
    const isIt = typeof value === 'object' && value !== null && (value.id === id || value.event_id === id)
    if (!isIt) return value
    return value.event_id === id ? { event_id: id } : { id }
  })
}

type Walk = (cursor: SweepCursor | null) => Promise<SweepPage>

/** Sweeps skip nothing and end, whatever happens at the provider in the meantime; the baseline has what is set for later. */
export function describeSweeping(provider: Provider, openWorld: OpenWorld): void {
  const setting = useSetting(provider, openWorld)

  describe(`a sweep of the ${provider.kind}`, () => {
    const since = START - MINUTE

    test('finds every refund, every end and pause, and every event, over many pages', async () => {
      const { world, reader } = await setting.openAccount()
      const refunds: string[] = []
      for (let count = 0; count < 230; count++) {
        setting.clock.pass(1_000)
        refunds.push(world.refund().refundId)
      }
      const ends = [world.subscribe(), world.subscribe(), world.subscribe()] as const
      world.cancel(ends[0])
      world.cancelLater(ends[1])
      world.pause(ends[2])
      const found = await walkAll(cursor => reader.changes(cursor, since))
      expect(refundsIn(found.objects)).toEqual(new Set(refunds))
      expect(phasesIn(found.objects)).toEqual({
        [ends[0]]: 'executed/none',
        [ends[1]]: 'scheduled/none',
        [ends[2]]: expect.stringMatching(/^none\/(scheduled|paused)$/),
      })
      const listed = new Set(found.events.map(event => event.eventId))
      const subscribed = world.events().filter(event => provider.subscribedEvents.includes(event.type))
      expect(subscribed.filter(event => !listed.has(event.id))).toEqual([])
      expect(found.pages).toBeGreaterThan(4)
    })

    test('goes on where it was after a restart, and skips nothing that comes while it goes on', async () => {
      const { world, reader } = await setting.openAccount()
      const refunds: string[] = []
      const busy = (times: number) => {
        for (let count = 0; count < times; count++) {
          setting.clock.pass(700)
          refunds.push(world.refund().refundId)
        }
      }
      busy(150)
      const found: ReadObject[] = []
      let cursor: SweepCursor | null = null
      for (let round = 0; round < 3; round++) {
        const walked = await walkAll(async at => {
          busy(3)
          return setting.openReader(world.api.url).changes(at, since)
        }, cursor)
        found.push(...walked.objects)
        cursor = walked.cursor
        setting.clock.pass(5 * MINUTE)
      }
      const made = new Set(refunds)
      found.push(...(await walkAll(at => reader.changes(at, since), cursor)).objects)
      expect(refundsIn(found)).toEqual(made)
    })

    test('finds later what could not be seen yet while it went on', async () => {
      const { world, reader } = await setting.openAccount()
      world.api.lagReads(10 * MINUTE)
      const late = world.refund()
      setting.clock.pass(9 * MINUTE)
      const first = await walkAll(cursor => reader.changes(cursor, since))
      expect(first.objects).toEqual([])
      setting.clock.pass(2 * MINUTE)
      const second = await walkAll(cursor => reader.changes(cursor, since), first.cursor)
      expect(refundsIn(second.objects)).toEqual(new Set([late.refundId]))
    })

    test('tells only what is recent after the first walk', async () => {
      const { world, reader } = await setting.openAccount()
      world.refund()
      const first = await walkAll(cursor => reader.changes(cursor, since))
      expect(refundsIn(first.objects).size).toBe(1)
      setting.clock.pass(60 * MINUTE)
      const second = await walkAll(cursor => reader.changes(cursor, since), first.cursor)
      setting.clock.pass(60 * MINUTE)
      const recent = world.refund()
      const third = await walkAll(cursor => reader.changes(cursor, since), second.cursor)
      expect(refundsIn(third.objects)).toEqual(new Set([recent.refundId]))
    })

    test('tells nothing from before it is to begin', async () => {
      const { world, reader } = await setting.openAccount()
      world.refund()
      setting.clock.pass(60 * MINUTE)
      const recent = world.refund()
      const found = await walkAll(cursor => reader.changes(cursor, setting.clock.now() - MINUTE))
      expect(refundsIn(found.objects)).toEqual(new Set([recent.refundId]))
      expect(found.events.every(event => event.createdAt >= setting.clock.now() - 2 * MINUTE)).toBe(true)
    })

    test('begins a list anew, once, when the provider no longer knows the place', async () => {
      const { world, reader } = await setting.openAccount()
      const refunds = Array.from({ length: 120 }, () => world.refund().refundId)
      const first = await reader.changes(null, since)
      const lost = { ...(first.kind === 'page' ? first.cursor : {}), page: 're_nowhere' }
      const found = await walkAll(cursor => reader.changes(cursor, since), lost)
      expect(refundsIn(found.objects)).toEqual(new Set(refunds))
      expect(await reader.changes({ ...lost, again: 'yes' }, since)).toMatchObject({ failure: 'question_refused' })
    })

    test('gives nothing of a page that could not be read whole, and reads it later', async () => {
      const { world, reader } = await setting.openAccount()
      const { refundId } = world.refund()
      world.api.meet({ kind: 'error', status: 403, times: 1 })
      expect(await reader.changes(null, since)).toMatchObject({ kind: 'failed', failure: 'key_refused' })
      const found = await walkAll(cursor => reader.changes(cursor, since))
      expect(refundsIn(found.objects)).toEqual(new Set([refundId]))
    })

    test('tells the rest of a page of which one item cannot be used, and that item with its fault', async () => {
      const { world } = await setting.openAccount()
      const refunds = Array.from({ length: 5 }, () => world.refund().refundId)
      const bad = refunds[2] as string
      const server = await setting.serve(
        passOn(
          world.api.url,
          path => path,
          body => withOtherId(body, bad, `${bad}\u0007`),
        ),
      )
      const reader = setting.openReader(server.url)
      const found = await walkAll(cursor => reader.changes(cursor, since))
      const sound = found.objects.filter(object => object.fault === undefined)
      // The biller's credit note names the refund, too.
      expect([...refundsIn(sound)]).toEqual(expect.arrayContaining(refunds.filter(id => id !== bad)))
      expect(found.objects.filter(object => object.fault !== undefined)).toContainEqual({
        type: expect.any(String),
        body: expect.objectContaining({ id: `${bad}\u0007` }),
        fault: 'it has no usable id',
      })
    })

    test('tells the rest of a page with an event that has no time or type, and that event with its fault', async () => {
      const { world } = await setting.openAccount()
      world.refund()
      world.refund()
      const [event] = world.events().filter(({ type }) => provider.subscribedEvents.includes(type))
      const server = await setting.serve(
        passOn(
          world.api.url,
          path => path,
          body => (body.includes(`"${event?.id}"`) ? withoutTypeAndTime(body, String(event?.id)) : body),
        ),
      )
      const found = await walkAll(cursor => setting.openReader(server.url).changes(cursor, since))
      expect(found.objects.filter(object => object.fault !== undefined)).toMatchObject([
        { type: 'event', fault: expect.stringMatching(/^it is no event$|^it has no time$/) },
      ])
      expect(found.events.map(({ eventId }) => eventId)).not.toContain(event?.id)
      expect(found.events.length).toBeGreaterThan(0)
    })

    test('does not try again a page that failed: the caller comes again', async () => {
      const { world, reader } = await setting.openAccount()
      world.api.meet({ kind: 'error', status: 503, times: 1_000 })
      expect(await reader.changes(null, since)).toMatchObject({ failure: 'provider_unavailable' })
      expect(world.api.calls()).toHaveLength(1)
      expect(setting.clock.now() - START).toBeLessThan(1_000)
    })

    test('has a baseline: what is set for later, and nothing else', async () => {
      const { world, reader } = await setting.openAccount()
      const subscriptions = Array.from({ length: 120 }, () => world.subscribe())
      const [ending, pausing, ended, changed] = subscriptions as [string, string, string, string]
      world.cancelLater(ending)
      world.pause(pausing)
      world.cancel(ended)
      world.change(changed)
      const found = await walkAll(cursor => reader.schedules(cursor))
      expect(new Set(Object.keys(phasesIn(found.objects)))).toEqual(new Set([ending, pausing]))
      expect(found.events).toEqual([])
    })
  })

  async function walkAll(read: Walk, from: SweepCursor | null = null) {
    const objects: ReadObject[] = []
    const events: ListedEvent[] = []
    let cursor = from
    for (let pages = 1; pages <= 100; pages++) {
      // What is stored is text: a cursor has to survive it.
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
    return new Set(setting.meaningsOf(objects).flatMap(one => (one.kind === 'action' ? [one.providerRef] : [])))
  }

  /** The latest phases of each subscription that was told of: of its end, and of its pause. */
  function phasesIn(objects: readonly ReadObject[]): Record<string, string> {
    const latest = new Map<string, { asOf: number; phases: string }>()
    for (const one of setting.meaningsOf(objects)) {
      if (one.kind !== 'subscription' || (latest.get(one.subject)?.asOf ?? 0) > one.asOf) continue
      latest.set(one.subject, { asOf: one.asOf, phases: `${one.cancellation.phase}/${one.pause.phase}` })
    }
    return Object.fromEntries([...latest].map(([id, { phases }]) => [id, phases]))
  }
}
