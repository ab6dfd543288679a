/** The suite that the stores of retries and replays pass, in memory and on MongoDB. */

import { SAMPLE_ALERTS } from '@backstop/channels'
import { action, alert, PROJECT, sampleBurst } from '@backstop/channels/test'
import type {
  DeliveryAttempt,
  DeliveryDocument,
  DeliveryErasureDocument,
  PersonErasureDocument,
  ReplayDocument,
} from '@backstop/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { outcomeWithoutAttempt } from '../src/delivery/rules/outcome-of-attempt.ts'
import { type DeliveryStore, newDelivery } from '../src/delivery-record/delivery-store.ts'
import { ERASED_TEXT, type ReplayStore, type RequeueOrder, type RequeueStore } from '../src/replay/requeue-store.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const at = (ms: number) => new Date(NOW + ms)

export interface RequeueStoresUnderTest {
  readonly deliveries: DeliveryStore
  readonly requeues: RequeueStore
  readonly replays: ReplayStore
  erasure(id: string): Promise<DeliveryErasureDocument | undefined>
  putRequest(request: PersonErasureDocument): Promise<void>
}

export function describeRequeues(name: string, open: () => Promise<RequeueStoresUnderTest>): void {
  let stores: RequeueStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })

  const newDocument = (id: string, facts: Partial<DeliveryDocument> = {}): DeliveryDocument => ({
    ...newDelivery(
      { delivery_id: id, project_id: PROJECT, channel_id: 'chn_1', attempt: 1, test: false, alert: alert() },
      'webhook',
      NOW,
    ),
    ...facts,
  })
  const storeDeadDelivery = async (...documents: DeliveryDocument[]) => {
    await stores.deliveries.insertNew(documents)
    const ending = { kind: 'ends', reason: 'channel_deleted', text: 'Gone' } as const
    await stores.deliveries.record(
      documents.map(one => outcomeWithoutAttempt({ deliveryId: one._id, attempt: 1 }, ending, NOW)),
    )
  }
  const order = (deliveryId: string, more: Partial<RequeueOrder> = {}): RequeueOrder => ({
    deliveryId,
    requestId: 'cmd_1',
    attempt: 1,
    waitsFor: null,
    ladderFrom: { attempt: 1, at: at(9) },
    atMs: NOW + 9,
    ...more,
  })
  const replay = (facts: Partial<ReplayDocument> = {}): ReplayDocument => ({
    _id: 'rpl_1',
    project_id: PROJECT,
    channel_id: 'chn_1',
    from: at(0),
    to: at(100),
    state: 'running',
    total: 3,
    requeued: 0,
    requested_at: at(0),
    cursor: null,
    next_page_at: at(0),
    finished_at: null,
    ...facts,
  })

  describe(`${name}: the erasure of a deleted connection`, () => {
    const shown = (connectionId: string): Partial<DeliveryDocument> => {
      const opened = alert()
      if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
      const customer = { id: 'cus_1', name: 'Canary Customer', email: 'canary@example.com' }
      const origin = {
        ...{ channel: 'dashboard' as const, key_name: null, user: 'canary-operator@example.com' },
        ...{ request_id: null, idempotency_key: null },
      }
      const facts = {
        project_id: PROJECT,
        connection_id: connectionId,
        connection_ids: [connectionId],
        customer,
        origin,
      }
      return { alert: { ...opened, data: { ...opened.data, action: action(facts) } } }
    }
    const textOf = async (id: string) => JSON.stringify(await stores.requeues.find(id))

    test('removes the people from its alerts and what receivers answered, once, and nothing else', async () => {
      const { alert: unknown } = shown('con_1')
      if (unknown?.event !== 'incident.opened' || unknown.data.action === null) throw new Error('There is no action')
      const report = SAMPLE_ALERTS['storm.reported'](PROJECT)
      if (report.event !== 'storm.reported') throw new Error('The sample is of another event')
      const { storm } = report.data
      const customer = { value: { id: 'cus_1', name: 'Canary Customer', email: 'canary@example.com' }, count: 9 }
      const user = { value: 'canary-operator@example.com', count: 9 }
      const aboutPeople = { ...storm, connection_id: 'con_1', common: { ...storm.common, customer, user } }
      const refused: DeliveryAttempt = {
        ...{ attempt: 1, at: at(0), duration_ms: 5, outcome: 'failed', status: 400 },
        ...{ error: 'The receiver answered: no Canary Customer', response: 'no canary@example.com' },
      }
      const taken: DeliveryAttempt = { ...refused, attempt: 2, outcome: 'delivered', status: 200, error: null }
      const nobody = { ...unknown, data: { ...unknown.data, action: { ...unknown.data.action, customer: null } } }
      await stores.deliveries.insertNew([
        newDocument('a', { ...shown('con_1'), reason: 'Refused: Canary Customer', attempts: [refused, taken] }),
        newDocument('b', { ...shown('con_2'), attempts: [refused] }),
        newDocument('c', { ...shown('con_1'), project_id: 'prj_other' }),
        newDocument('d', { alert: nobody }),
        newDocument('e', { alert: { ...report, data: { ...report.data, storm: aboutPeople } } }),
        newDocument('f', { alert: { ...report, data: { ...report.data, storm } } }),
        newDocument('g', { alert: sampleBurst({ common: aboutPeople.common }, { connection_id: 'con_1' }) }),
      ])
      expect(await stores.requeues.erasePersonalData(PROJECT, { connectionId: 'con_1' })).toBe(4)
      expect([await textOf('a'), await textOf('d'), await textOf('e')].join()).not.toMatch(/canary/i)
      expect(await textOf('b')).toMatch(/Canary Customer.*canary@example.com/)
      expect(await textOf('c')).toContain('Canary Customer')
      expect(await stores.requeues.find('a')).toMatchObject({
        state: 'pending',
        reason: ERASED_TEXT,
        attempts: [
          { attempt: 1, status: 400, error: ERASED_TEXT, response: null },
          { attempt: 2, status: 200, error: null, response: null },
        ],
        alert: {
          data: { action: { customer: { id: 'cus_1', name: null, email: null }, origin: { channel: 'dashboard' } } },
        },
      })
      expect(await stores.requeues.erasePersonalData(PROJECT, { connectionId: 'con_1' })).toBe(0)
    })
  })

  describe(`${name}: the erasure of a person`, () => {
    const of = (actionId: string, projectId = PROJECT): Partial<DeliveryDocument> => {
      const opened = alert()
      if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
      const customer = { id: null, name: 'Canary Customer', email: null }
      const origin = {
        ...{ channel: 'dashboard' as const, key_name: null, user: 'clerk@acme.example' },
        ...{ request_id: null, idempotency_key: null },
      }
      const facts = { action_id: actionId, project_id: projectId, customer, origin }
      return { project_id: projectId, alert: { ...opened, data: { ...opened.data, action: action(facts) } } }
    }
    const manyOf = (id: string | null) => {
      const customer = { value: { id, name: 'Canary Customer', email: null }, count: 9 }
      const report = SAMPLE_ALERTS['storm.reported'](PROJECT)
      if (report.event !== 'storm.reported') throw new Error('The sample is of another event')
      const { storm } = report.data
      const user = { value: 'clerk@acme.example', count: 9 }
      return { ...report, data: { ...report.data, storm: { ...storm, common: { ...storm.common, customer, user } } } }
    }

    test('removes the customer from alerts about the actions, and from reports that name the customer, and from no other', async () => {
      const { common } = manyOf('cus_1').data.storm
      await stores.deliveries.insertNew([
        newDocument('own', of('act_1')),
        newDocument('other', of('act_2')),
        newDocument('foreign', of('act_1', 'prj_other')),
        newDocument('storm', { alert: manyOf('cus_1') }),
        newDocument('without-id', { alert: manyOf(null) }),
        newDocument('id-is-address', { alert: manyOf('canary@example.com') }),
        newDocument('id-is-other-address', { alert: manyOf('other@example.com') }),
        newDocument('foreign-storm', { project_id: 'prj_other', alert: manyOf('cus_1') }),
        newDocument('other-storm', { alert: manyOf('cus_2') }),
        newDocument('burst', { alert: sampleBurst({ common }, { connection_id: 'con_1' }) }),
      ])
      const person = { customer_id: null, email: 'canary@example.com' }
      await stores.putRequest({ _id: 'era_1', project_id: PROJECT, person, requested_at: at(0) })
      const about = { erasureId: 'era_1', actionIds: ['act_1', 'act_9'], customerIds: ['cus_1'], at: at(1) }
      expect(await stores.requeues.erasePersonalData(PROJECT, about)).toBe(4)
      const reports = ['storm', 'without-id', 'id-is-address', 'id-is-other-address', 'foreign-storm', 'other-storm']
      const ids = ['own', 'other', 'foreign', 'burst', ...reports]
      const found = await Promise.all(ids.map(id => stores.requeues.find(id)))
      const left = found.filter(one => JSON.stringify(one).includes('Canary Customer')).map(one => one?._id)
      const ofOthers = ['without-id', 'id-is-other-address', 'foreign-storm', 'other-storm']
      expect(left).toEqual(['other', 'foreign', ...ofOthers])
      // Who of the team made the refunds.
      expect(found.filter(one => JSON.stringify(one).includes('clerk@acme.example'))).toHaveLength(found.length)
      expect(await stores.requeues.erasePersonalData(PROJECT, about)).toBe(0)
    })

    test('counts its deliveries, and stays finished', async () => {
      const erasure = { id: 'era_1', projectId: PROJECT }
      await stores.requeues.recordErasure(erasure, 3, null)
      expect(await stores.erasure('era_1')).toMatchObject({ project_id: PROJECT, deliveries: 3, finished_at: null })
      await stores.requeues.recordErasure(erasure, 0, at(5))
      await stores.requeues.recordErasure(erasure, 1, null)
      expect(await stores.erasure('era_1')).toMatchObject({ deliveries: 4, finished_at: at(5) })
      await stores.requeues.recordErasure({ ...erasure, id: 'era_2' }, 0, at(6))
      expect(await stores.erasure('era_2')).toMatchObject({ deliveries: 0, finished_at: at(6) })
    })
  })

  describe(`${name}: a delivery that is asked for again`, () => {
    test('waits for its attempt now, with a ladder that begins anew', async () => {
      await storeDeadDelivery(newDocument('a'))
      expect(await stores.requeues.requeue([order('a')])).toEqual(new Set())
      expect(await stores.requeues.find('a')).toMatchObject({
        state: 'retrying',
        next_attempt: { attempt: 1, due_at: at(9), topic: 'deliveries' },
        requested_by: 'cmd_1',
        ladder_from: { attempt: 1, at: at(9) },
        updated_at: at(9),
      })
      const progress = (await stores.deliveries.progressOf(['a'])).get('a')
      expect(progress).toMatchObject({ firstAttemptAtMs: NOW + 9 })
      expect(await stores.requeues.find('unknown')).toBeUndefined()
    })

    test('keeps the hours of its ladder when its attempt is only brought forward', async () => {
      await stores.deliveries.insertNew([newDocument('a')])
      const ladderFrom = { attempt: 2, at: at(-7) }
      expect(await stores.requeues.requeue([order('a', { waitsFor: 1, ladderFrom })])).toEqual(new Set())
      const progress = (await stores.deliveries.progressOf(['a'])).get('a')
      expect(progress).toMatchObject({ firstAttemptAtMs: NOW - 7 })
    })

    test('is refused when it moved on; the same order again is not', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])
      const orders = [order('a', { waitsFor: 2 }), order('b', { waitsFor: 1 }), order('unknown')]
      expect(await stores.requeues.requeue(orders)).toEqual(new Set(['a', 'unknown']))
      await stores.requeues.requeue([order('b', { waitsFor: 1 })])
      expect(await stores.requeues.requeue([order('b', { waitsFor: null })])).toEqual(new Set())
      expect(await stores.requeues.requeue([order('b', { waitsFor: null, requestId: 'cmd_2' })])).toEqual(
        new Set(['b']),
      )
      expect(await stores.requeues.requeue([])).toEqual(new Set())
    })
  })

  describe(`${name}: a replay`, () => {
    test('finds the dead of its channel, project and window only, oldest first, page by page', async () => {
      await storeDeadDelivery(
        newDocument('d', { created_at: at(50) }),
        newDocument('b', { created_at: at(0) }),
        newDocument('c', { created_at: at(50) }),
        newDocument('late', { created_at: at(100) }),
        newDocument('early', { created_at: at(-1) }),
        newDocument('test', { created_at: at(5), test: true }),
        newDocument('other', { created_at: at(5), channel_id: 'chn_2' }),
        newDocument('foreign', { created_at: at(5), project_id: 'prj_2' }),
      )
      await stores.deliveries.insertNew([newDocument('alive', { created_at: at(5) })])
      expect(await stores.requeues.countFailed(replay())).toBe(3)
      const first = await stores.requeues.nextOfReplay(replay(), 2)
      expect(first.map(one => one._id)).toEqual(['b', 'c'])
      const cursor = { created_at: at(50), delivery_id: 'c' }
      const second = await stores.requeues.nextOfReplay(replay({ cursor }), 2)
      expect(second.map(one => one._id)).toEqual(['d'])
    })

    test('finds deliveries that wait for a retry, but none whose attempt is due', async () => {
      const waiting = (topic: string): Partial<DeliveryDocument> => ({
        state: 'retrying',
        next_attempt: { attempt: 3, due_at: at(90), topic },
      })
      await stores.deliveries.insertNew([
        newDocument('waiting', waiting('deliveries.retry.6h')),
        newDocument('due', waiting('deliveries')),
        newDocument('new'),
      ])
      expect(await stores.requeues.countFailed(replay())).toBe(1)
      expect((await stores.requeues.nextOfReplay(replay(), 10)).map(one => one._id)).toEqual(['waiting'])
    })

    test('finds deliveries that were overdue when it was requested: a restored backup has no messages of theirs', async () => {
      const due = (ms: number) => ({ attempt: 1, due_at: at(ms), topic: 'deliveries' })
      await stores.deliveries.insertNew([
        newDocument('lost', { next_attempt: due(-400_000) }),
        newDocument('lost-retry', { state: 'retrying', next_attempt: { ...due(-400_000), attempt: 3 } }),
        newDocument('late', { next_attempt: due(-200_000) }),
      ])
      expect(await stores.requeues.countFailed(replay())).toBe(2)
      const found = await stores.requeues.nextOfReplay(replay(), 10)
      expect(found.map(one => one._id)).toEqual(['lost', 'lost-retry'])
    })

    test('finds deliveries that it requeued before a crash, and counts the waiting ones', async () => {
      await storeDeadDelivery(newDocument('a'), newDocument('b'))
      await stores.requeues.requeue([order('a', { requestId: 'rpl_1' }), order('b', { requestId: 'rpl_2' })])
      expect((await stores.requeues.nextOfReplay(replay(), 10)).map(one => one._id)).toEqual(['a'])
      expect(await stores.requeues.countWaiting('rpl_1', 'chn_1', 10)).toBe(1)
      expect(await stores.requeues.countWaiting('rpl_1', 'chn_2', 10)).toBe(0)
      expect(await stores.requeues.countWaiting('rpl_3', 'chn_1', 10)).toBe(0)
    })

    test('begins once, and is claimed by one at a time when it is due', async () => {
      expect(await stores.replays.begin(replay())).toBe(true)
      expect(await stores.replays.begin(replay({ total: 9 }))).toBe(false)
      expect(await stores.replays.claim(NOW - 1, NOW)).toBeUndefined()
      expect(await stores.replays.claim(NOW, NOW + 30)).toMatchObject({ _id: 'rpl_1', total: 3 })
      expect(await stores.replays.claim(NOW + 29, NOW + 60)).toBeUndefined()
      expect(await stores.replays.claim(NOW + 30, NOW + 60)).toMatchObject({ _id: 'rpl_1' })
    })

    test('records its progress unless another process was faster, and ends', async () => {
      await stores.replays.begin(replay())
      const cursor = { created_at: at(5), delivery_id: 'a' }
      const claimed = await stores.replays.claim(NOW, NOW + 30)
      if (claimed === undefined) throw new Error('Nothing to claim')
      const next = { cursor, requeued: 2, nextPageAtMs: NOW + 1, finishedAtMs: null }
      await stores.replays.advance(claimed, next)
      await stores.replays.advance(claimed, { ...next, requeued: 4 })
      const again = await stores.replays.claim(NOW + 1, NOW + 30)
      expect(again).toMatchObject({ requeued: 2, cursor, state: 'running' })
      if (again === undefined) throw new Error('Nothing to claim')
      await stores.replays.advance(again, { ...next, finishedAtMs: NOW + 7 })
      expect(await stores.replays.claim(NOW + 99, NOW + 100)).toBeUndefined()
    })
  })
}
