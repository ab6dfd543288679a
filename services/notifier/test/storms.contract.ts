/** The suite that every store of storms passes, in memory and on MongoDB. */

import type { StormDocument, StormMemberDocument, TimedOutboxEntry } from '@backstop/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StormStore } from '../src/storm/storm-store.ts'

export interface StormsUnderTest {
  readonly storms: StormStore
  members(): Promise<StormMemberDocument[]>
}

const AT = Date.parse('2026-11-21T10:00:00.000Z')

export function describeStorms(name: string, open: () => Promise<StormsUnderTest>): void {
  let stores: StormsUnderTest
  let storms: StormStore
  beforeEach(async () => {
    stores = await open()
    storms = stores.storms
  })

  const member = (id: string, facts: Partial<StormMemberDocument> = {}): StormMemberDocument => ({
    _id: id,
    project_id: 'prj_1',
    connection_id: 'con_1',
    action_id: `act_${id}`,
    provider: 'processor',
    kind: 'refund',
    opened_at: new Date(AT),
    storm_id: null,
    alone: true,
    amount: 100,
    currency: 'eur',
    state: 'succeeded',
    subject: 'pi_1',
    facts: {
      channel: null,
      key_name: null,
      user_fingerprint: null,
      mode: null,
      customer_id: null,
      refund_reason: null,
    },
    recorded_at: new Date(AT),
    acknowledged_at: null,
    resolved_at: null,
    explained: false,
    ...facts,
  })
  const storm = (id: string, facts: Partial<StormDocument> = {}): StormDocument => ({
    _id: id,
    project_id: 'prj_1',
    connection_id: 'con_1',
    provider: 'processor',
    state: 'open',
    began_at: new Date(AT),
    last_member_at: new Date(AT),
    version: 0,
    report: 0,
    reported_at: null,
    reported_version: 0,
    reported_incidents: 0,
    reported_resolved: 0,
    reported_unacknowledged: null,
    acknowledgements: 0,
    seen_acknowledgements: 0,
    next_look_at: new Date(AT),
    ended_at: null,
    ...facts,
  })
  const near = { scope: 'con_1', fromMs: AT - 10, toMs: AT + 10 }
  const join = (stormId: string, recordedAtMs = AT) => ({
    stormId,
    scope: 'con_1',
    incidentIds: [],
    recordedAtMs,
  })
  const entry = (id: string): TimedOutboxEntry => ({ id, topic: 'alerts', key: 'prj_1', message: { id }, at: AT })
  const write = (id: string, nextLookAtMs: number | null) => ({
    entry: entry(id),
    incidents: 3,
    resolved: 1,
    unacknowledged: 2,
    atMs: AT,
    nextLookAtMs,
  })
  const found = async (id: string) => {
    const document = await storms.find(id)
    if (document === undefined) throw new Error(`There is no storm ${id}`)
    return document
  }
  const stormsOfMembers = async () =>
    Object.fromEntries((await stores.members()).map(({ _id, storm_id }) => [_id, storm_id]))

  describe(`${name}: members of storms`, () => {
    test('are recorded once, and the first decision stands', async () => {
      expect(await storms.insert([member('a'), member('b')])).toEqual(new Set())
      expect(await storms.insert([member('b', { alone: false, storm_id: 'stm_x' }), member('c')])).toEqual(
        new Set(['b']),
      )
      expect(await storms.insert([])).toEqual(new Set())
      expect(await stormsOfMembers()).toEqual({ a: null, b: null, c: null })
    })

    test('are read by id, or near the time of the connection if they have no storm', async () => {
      await storms.insert([
        member('first', { opened_at: new Date(AT - 10) }),
        member('last', { opened_at: new Date(AT + 10) }),
        member('early', { opened_at: new Date(AT - 11) }),
        member('late', { opened_at: new Date(AT + 11) }),
        member('other', { connection_id: 'con_2' }),
        member('of_storm', { storm_id: 'stm_x', alone: false }),
      ])
      await storms.open(storm('stm_x'))
      await storms.open(storm('stm_2', { connection_id: 'con_2' }))
      const read = await storms.read({ incidentIds: ['of_storm', 'unknown'], near: [near] })
      expect(read.members.map(({ _id }) => _id).sort()).toEqual(['first', 'last', 'of_storm'])
      expect(read.members.find(({ _id }) => _id === 'of_storm')).toMatchObject({
        connection_id: 'con_1',
        opened_at: new Date(AT),
        recorded_at: new Date(AT),
        storm_id: 'stm_x',
        alone: false,
      })
      expect(read.openStorms).toEqual(new Map([['con_1', 'stm_x']]))
      expect(await storms.read({ incidentIds: [], near: [] })).toEqual({ members: [], openStorms: new Map() })
    })

    test('are adopted, moved and counted', async () => {
      const inX = { storm_id: 'stm_x', alone: false }
      await storms.insert([member('a'), member('b', inX), member('c', inX), member('d', { connection_id: 'con_2' })])
      await storms.adopt('stm_x', near)
      expect(await stormsOfMembers()).toEqual({ a: 'stm_x', b: 'stm_x', c: 'stm_x', d: null })
      expect(await storms.countMembers(storm('stm_x'))).toBe(3)
      await storms.move('con_1', 'stm_x', 'stm_y', ['b', 'd'])
      expect(await stormsOfMembers()).toEqual({ a: 'stm_x', b: 'stm_y', c: 'stm_x', d: null })
      await storms.move('con_2', 'stm_x', 'stm_y', null)
      expect(await storms.countMembers(storm('stm_y'))).toBe(1)
      await storms.move('con_1', 'stm_x', 'stm_y', null)
      expect(await storms.countMembers(storm('stm_y'))).toBe(3)
      const visited: string[] = []
      await storms.visitMembers(storm('stm_y'), ({ action_id }) => visited.push(action_id))
      expect(visited.sort()).toEqual(['act_a', 'act_b', 'act_c'])
    })

    test('are visited action by action, the oldest incident first', async () => {
      const inX = { storm_id: 'stm_x', alone: false }
      const of = (id: string, action_id: string, atMs: number) =>
        member(id, { ...inX, action_id, opened_at: new Date(atMs) })
      await storms.insert([
        of('d', 'act_1', AT + 2),
        of('a', 'act_2', AT),
        of('b', 'act_1', AT + 1),
        of('c', 'act_2', AT),
      ])
      const visited: Date[] = []
      const actionIds: string[] = []
      await storms.visitMembers(storm('stm_x'), ({ action_id, opened_at }) => {
        actionIds.push(action_id)
        visited.push(opened_at)
      })
      expect(actionIds).toEqual(['act_1', 'act_1', 'act_2', 'act_2'])
      expect(visited).toEqual([new Date(AT + 1), new Date(AT + 2), new Date(AT), new Date(AT)])
    })

    test('show that their incident was resolved, or opened again', async () => {
      await storms.insert([member('a'), member('b')])
      await storms.change([
        { incidentId: 'a', set: { explained: true, state: 'failed', resolved_at: new Date(AT + 1) } },
        { incidentId: 'b', set: { explained: false, resolved_at: new Date(AT + 2) } },
        { incidentId: 'unknown', set: { explained: true, state: 'failed', resolved_at: new Date(AT) } },
      ])
      await storms.change([])
      expect(
        (await stores.members()).map(({ explained, resolved_at, state }) => [explained, resolved_at, state]),
      ).toEqual([
        [true, new Date(AT + 1), 'failed'],
        [false, new Date(AT + 2), 'succeeded'],
      ])
      await storms.change([{ incidentId: 'a', set: { explained: false, resolved_at: null } }])
      expect((await stores.members()).map(({ explained, resolved_at }) => [explained, resolved_at])).toEqual([
        [false, null],
        [false, new Date(AT + 2)],
      ])
    })
  })

  describe(`${name}: storms of connected accounts`, () => {
    const ofA = { connection_id: 'con_1/acct_a', account: 'acct_a' }
    const ofB = { connection_id: 'con_1/acct_b', account: 'acct_b' }
    const ofMany = { ...near, scope: 'con_1/' }

    test('are open beside those of their connection, and are found with the members of all accounts', async () => {
      await storms.insert([
        member('own'),
        member('a', ofA),
        member('b', ofB),
        member('c', { connection_id: 'con_10/acct_a' }),
      ])
      for (const id of ['con_1', 'con_1/acct_a', 'con_1/acct_b', 'con_1/', 'con_10/acct_a']) {
        await storms.open(storm(`stm_${id}`, { connection_id: id }))
      }
      await storms.open(storm('stm_second', { connection_id: 'con_1/acct_a' }))
      expect(await storms.find('stm_second')).toBeUndefined()
      const read = await storms.read({ incidentIds: [], near: [ofMany] })
      expect(read.members.map(({ _id }) => _id).sort()).toEqual(['a', 'b'])
      expect([...read.openStorms.keys()].sort()).toEqual(['con_1', 'con_1/', 'con_1/acct_a', 'con_1/acct_b'])
      expect((await storms.read({ incidentIds: [], near: [near] })).members.map(({ _id }) => _id)).toEqual(['own'])
    })

    test('of many accounts adopt the members of all, and count and show them', async () => {
      await storms.insert([member('own'), member('a', ofA), member('b', ofB)])
      await storms.adopt('stm_many', ofMany)
      const many = storm('stm_many', { connection_id: 'con_1/' })
      expect(await storms.countMembers(many)).toBe(2)
      const accounts: (string | undefined)[] = []
      await storms.visitMembers(many, ({ account }) => accounts.push(account))
      expect(accounts.sort()).toEqual(['acct_a', 'acct_b'])
    })
  })

  describe(`${name}: storms`, () => {
    test('are open once for each connection, whoever begins or continues them', async () => {
      await Promise.all(['stm_a', 'stm_b', 'stm_a'].map(id => storms.open(storm(id))))
      const open = await storms.openStormOf('con_1')
      expect(['stm_a', 'stm_b']).toContain(open)
      await storms.report(await found(open as string), write('r', null))
      expect(await storms.openStormOf('con_1')).toBeUndefined()
      await storms.open(storm('stm_c'))
      await storms.reopen(open as string, AT)
      expect(await storms.openStormOf('con_1')).toBe('stm_c')
      expect((await found(open as string)).state).toBe('ended')
    })

    test('are continued after their end, if no other one is open', async () => {
      await storms.open(storm('stm_a'))
      await storms.report(await found('stm_a'), write('r', null))
      await storms.reopen('stm_a', AT + 5)
      expect(await found('stm_a')).toMatchObject({ state: 'open', ended_at: null, next_look_at: new Date(AT + 5) })
    })

    test('are touched only while they are open', async () => {
      expect(await storms.touch([join('stm_a')])).toBe(false)
      await storms.open(storm('stm_a'))
      expect(await storms.touch([join('stm_a', AT + 9)])).toBe(true)
      expect(await storms.touch([join('stm_a', AT + 4)])).toBe(true)
      expect(await found('stm_a')).toMatchObject({ version: 2, last_member_at: new Date(AT + 9) })
      await storms.report(await found('stm_a'), write('r', null))
      expect(await storms.touch([join('stm_a')])).toBe(false)
    })

    test('are touched together, the open ones also if others are not', async () => {
      await storms.open(storm('stm_a'))
      await storms.open(storm('stm_b', { connection_id: 'con_2' }))
      expect(await storms.touch([join('stm_a'), join('stm_b')])).toBe(true)
      expect(await storms.touch([join('stm_a'), join('stm_c')])).toBe(false)
      expect(await found('stm_a')).toMatchObject({ version: 2 })
      expect(await found('stm_b')).toMatchObject({ version: 1 })
    })

    test('are due at their time, and a look can be postponed unless a report came first', async () => {
      await storms.open(storm('stm_a'))
      await storms.open(storm('stm_b', { connection_id: 'con_2', next_look_at: new Date(AT + 50) }))
      expect((await storms.due(AT - 1, 10)).map(({ _id }) => _id)).toEqual([])
      expect((await storms.due(AT, 10)).map(({ _id }) => _id)).toEqual(['stm_a'])
      expect(await storms.due(AT + 50, 1)).toHaveLength(1)
      const read = await found('stm_a')
      await storms.postpone(read, AT + 7)
      expect((await found('stm_a')).next_look_at).toEqual(new Date(AT + 7))
      await storms.report(read, write('r', AT + 9))
      await storms.postpone(read, AT + 99)
      expect((await found('stm_a')).next_look_at).toEqual(new Date(AT + 9))
    })

    test('are reported once by several processes, and the report waits in the outbox until it is published', async () => {
      await storms.open(storm('stm_a'))
      await storms.touch([join('stm_a')])
      const read = await found('stm_a')
      const results = await Promise.all(['r1', 'r2', 'r3'].map(id => storms.report(read, write(id, AT + 60))))
      const [reported, ...refused] = results.toSorted(
        (one, other) => Number(other !== undefined) - Number(one !== undefined),
      )
      expect(refused).toEqual([undefined, undefined])
      expect(reported).toMatchObject({ documentId: 'stm_a', entries: [{ topic: 'alerts' }] })
      expect(await found('stm_a')).toMatchObject({
        report: 1,
        reported_at: new Date(AT),
        reported_version: 1,
        reported_incidents: 3,
        reported_resolved: 1,
      })
      expect(await storms.outbox.pending(AT + 1, 10)).toEqual([reported])
      await storms.outbox.published([{ documentId: 'stm_a', entryIds: reported?.entries.map(({ id }) => id) ?? [] }])
      expect(await storms.outbox.pending(AT + 1, 10)).toEqual([])
    })

    test('are due again after their end when members are resolved, until they are reported or forgotten', async () => {
      await storms.open(storm('stm_a'))
      const open = await found('stm_a')
      await storms.lookAgain(['stm_a', 'unknown'], AT + 5)
      await storms.lookAgain([], AT + 5)
      expect(await storms.report(open, write('r', null))).toBeUndefined()
      const before = await found('stm_a')
      expect(before.version - before.reported_version).toBe(0)
      expect(await storms.report(before, write('r1', null))).toBeDefined()
      await storms.lookAgain(['stm_a'], AT + 5)
      expect((await storms.due(AT + 5, 10)).map(({ _id }) => _id)).toEqual(['stm_a'])
      const read = await found('stm_a')
      await storms.lookAgain(['stm_a'], AT + 6)
      await storms.forget(read)
      expect(await storms.due(AT + 6, 10)).toHaveLength(1)
      await storms.forget(await found('stm_a'))
      expect(await storms.due(AT + 6, 10)).toEqual([])
      await storms.lookAgain(['stm_a'], AT + 7)
      expect(await storms.report(await found('stm_a'), { ...write('r2', null), atMs: AT + 9 })).toBeDefined()
      expect(await found('stm_a')).toMatchObject({ state: 'ended', report: 2, ended_at: new Date(AT) })
      expect(await storms.due(AT + 1_000, 10)).toEqual([])
    })

    test('are due, open or ended, when members are acknowledged, and no report misses an acknowledgement', async () => {
      await storms.open(storm('stm_a', { next_look_at: new Date(AT + 1_000) }))
      const read = await found('stm_a')
      await storms.noteAcknowledged(['stm_a', 'unknown'], AT + 5)
      await storms.noteAcknowledged([], AT + 5)
      const noted = await found('stm_a')
      expect(noted).toMatchObject({ acknowledgements: 1, seen_acknowledgements: 0 })
      expect(noted.version - noted.reported_version).toBe(0)
      expect((await storms.due(AT + 5, 10)).map(({ _id }) => _id)).toEqual(['stm_a'])
      for (const next of [AT + 60, null]) expect(await storms.report(read, write('r', next))).toBeUndefined()
      await storms.postpone(read, AT + 60)
      expect(await storms.due(AT + 5, 10)).toHaveLength(1)
      await storms.postpone(noted, AT + 60)
      expect(await storms.due(AT + 59, 10)).toEqual([])
      expect(await found('stm_a')).toMatchObject({ acknowledgements: 1, seen_acknowledgements: 1 })
      await storms.noteAcknowledged(['stm_a'], AT + 6)
      expect(await storms.report(await found('stm_a'), write('r', null))).toBeDefined()
      expect(await found('stm_a')).toMatchObject({ seen_acknowledgements: 2, reported_unacknowledged: 2 })
      await storms.noteAcknowledged(['stm_a'], AT + 7)
      expect(await storms.due(AT + 7, 10)).toHaveLength(1)
    })

    test('have each of their bursts once', async () => {
      const burst = (incident_id: string) => ({ incident_id, opened_at: new Date(AT).toISOString(), count: 12 })
      await storms.open(storm('stm_a', { bursts: [burst('inc_1')] }))
      await Promise.all(['inc_1', 'inc_2', 'inc_2'].map(id => storms.addBurst('stm_a', burst(id))))
      await storms.addBurst('stm_unknown', burst('inc_3'))
      expect((await found('stm_a')).bursts).toEqual([burst('inc_1'), burst('inc_2')])
      await storms.open(storm('stm_b', { connection_id: 'con_2' }))
      await storms.addBurst('stm_b', burst('inc_4'))
      expect((await found('stm_b')).bursts).toEqual([burst('inc_4')])
    })

    test('are removed if nothing changed since they were read and nothing was reported', async () => {
      await storms.open(storm('stm_a'))
      const read = await found('stm_a')
      await storms.touch([join('stm_a')])
      await storms.remove(read)
      const joined = await found('stm_a')
      await storms.report(joined, write('r', AT + 60))
      await storms.remove(joined)
      await storms.remove(await found('stm_a'))
      expect((await found('stm_a')).report).toBe(1)
      await storms.open(storm('stm_b', { connection_id: 'con_2' }))
      await storms.remove(await found('stm_b'))
      expect(await storms.find('stm_b')).toBeUndefined()
    })

    test('do not end while a member joins, but are reported', async () => {
      await storms.open(storm('stm_a'))
      const read = await found('stm_a')
      await storms.touch([join('stm_a')])
      expect(await storms.report(read, write('r', null))).toBeUndefined()
      expect(await storms.report(read, write('r', AT + 60))).toBeDefined()
      expect(await storms.report(await found('stm_a'), { ...write('r', null), entry: null })).toBeDefined()
      const ended = await found('stm_a')
      expect(ended).toMatchObject({ state: 'ended', ended_at: new Date(AT), report: 2 })
      expect(ended.next_look_at).toBeUndefined()
      expect(await storms.due(AT + 1_000_000, 10)).toEqual([])
    })
  })
}
