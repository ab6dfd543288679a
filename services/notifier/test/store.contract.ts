/** The suite that every store passes, in memory and on MongoDB. */

import type { ChannelDocument } from '@backstop/channels'
import { alert, PROJECT, webhookChannel } from '@backstop/channels/test'
import type { DeliveryDocument, SilenceDocument } from '@backstop/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ChannelStore } from '../src/channels/channel-store.ts'
import {
  type AttemptOutcome,
  outcomeOfAttempt,
  outcomeWithoutAttempt,
} from '../src/delivery/rules/outcome-of-attempt.ts'
import { type DeliveryStore, newDelivery, progressOf, withOutcome } from '../src/delivery-record/delivery-store.ts'
import type { HealthStore } from '../src/health/health-store.ts'
import { disableChannel } from '../src/health/rules/channel-health.ts'

export interface StoresUnderTest {
  readonly channels: ChannelStore
  readonly deliveries: DeliveryStore
  readonly health: HealthStore
  putChannel(channel: ChannelDocument): Promise<void>
  putProject(id: string, name: string): Promise<void>
  putSilence(silence: SilenceDocument): Promise<void>
  putConnection(id: string, projectId: string, name: string): Promise<void>
  putActor(id: string, projectId: string, name: string | null): Promise<void>
  delivery(id: string): Promise<DeliveryDocument | undefined>
}

const NOW = Date.parse('2026-11-21T10:01:00.000Z')

export function describeStores(name: string, open: () => Promise<StoresUnderTest>): void {
  let stores: StoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })

  const newDocument = (id: string) =>
    newDelivery(
      { delivery_id: id, project_id: PROJECT, channel_id: 'chn_1', attempt: 1, test: false, alert: alert() },
      'webhook',
      NOW,
    )
  const outcomeOf = (id: string, attempt: number, status: number, startedAtMs = NOW): AttemptOutcome =>
    outcomeOfAttempt({
      deliveryId: id,
      channelKind: 'webhook',
      attempt,
      test: false,
      firstAttemptAtMs: NOW,
      ladderAttemptsAtMs: [],
      startedAtMs,
      endedAtMs: startedAtMs + 10,
      answer: { kind: 'http', status, retryAfter: null, body: 'hm' },
    })

  describe(`${name}: deliveries`, () => {
    test('are made once: the ids of existing ones are returned', async () => {
      expect(await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])).toEqual(new Set())
      expect(await stores.deliveries.insertNew([newDocument('b'), newDocument('c')])).toEqual(new Set(['b']))
      expect(await stores.deliveries.insertNew([])).toEqual(new Set())
    })

    test('show their progress', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])
      await stores.deliveries.record([outcomeOf('b', 1, 500)])
      const progress = await stores.deliveries.progressOf(['a', 'b', 'unknown'])
      expect([...progress.keys()].sort()).toEqual(['a', 'b'])
      expect(progress.get('a')).toMatchObject({ state: 'pending', lastAttempt: 0, firstAttemptAtMs: null })
      expect(progress.get('a')?.next).toMatchObject({ attempt: 1 })
      expect(progress.get('b')).toMatchObject({
        state: 'retrying',
        lastAttempt: 1,
        firstAttemptAtMs: NOW,
        next: { attempt: 2, topic: 'deliveries.retry.5s', dueAtMs: NOW + 10 + 5_000 },
      })
      expect(await stores.deliveries.progressOf([])).toEqual(new Map())
    })

    test('store every attempt with the answer', async () => {
      await stores.deliveries.insertNew([newDocument('a')])
      await stores.deliveries.record([outcomeOf('a', 1, 500)])
      await stores.deliveries.record([outcomeOf('a', 2, 200, NOW + 6_000)])
      expect(await stores.delivery('a')).toMatchObject({
        state: 'delivered',
        next_attempt: null,
        updated_at: new Date(NOW + 6_010),
        attempts: [
          { attempt: 1, at: new Date(NOW), duration_ms: 10, outcome: 'failed', status: 500, response: 'hm' },
          { attempt: 2, outcome: 'delivered', status: 200 },
        ],
      })
    })

    test('are stored with the outcome of an attempt as if they had been stored before it', async () => {
      const ended = { tag: 't1', end: 'taken', attempt: 1 } as const
      const outcomes = [
        outcomeOf('delivered', 1, 200),
        { ...outcomeOf('retrying', 1, 500), endedAddresses: [ended], digestGroup: 'dig_1', goesAlone: true as const },
        { ...outcomeOf('in_a_digest', 1, 200), coveredBy: 'dig_2' },
        outcomeWithoutAttempt({ deliveryId: 'dead', attempt: 1 }, { reason: 'gone', text: 'Gone' }, NOW + 10),
      ]
      await stores.deliveries.insertNew(outcomes.map(one => newDocument(one.deliveryId)))
      await stores.deliveries.record(outcomes)
      for (const one of outcomes) {
        expect(withOutcome(newDocument(one.deliveryId), one)).toEqual(await stores.delivery(one.deliveryId))
      }
      // An outcome that is stored already, as after a lost answer, is no conflict.
      expect(
        await stores.deliveries.insertNew(outcomes.map(one => withOutcome(newDocument(one.deliveryId), one))),
      ).toEqual(new Set(outcomes.map(one => one.deliveryId)))
      expect(await stores.deliveries.record(outcomes)).toEqual(new Set())
    })

    test('refuse the result of an attempt that is not their next one, and return its id', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])
      expect(await stores.deliveries.record([outcomeOf('a', 1, 500), outcomeOf('b', 1, 200)])).toEqual(new Set())
      const late = [outcomeOf('a', 1, 200, NOW + 1), outcomeOf('b', 1, 500, NOW + 1), outcomeOf('unknown', 1, 200)]
      expect(await stores.deliveries.record(late)).toEqual(new Set(['a', 'b', 'unknown']))
      expect((await stores.delivery('a'))?.attempts).toHaveLength(1)
      expect((await stores.delivery('b'))?.state).toBe('delivered')
    })

    test('remember each address that took its mail, and one that was refused until the ladder begins anew', async () => {
      const ended = (tag: string, end: 'taken' | 'refused', attempt: number) => ({ tag, end, attempt })
      await stores.deliveries.insertNew([newDocument('a')])
      const first = [ended('t1', 'taken', 1), ended('t2', 'refused', 1)]
      const results = [{ ...outcomeOf('a', 1, 500), endedAddresses: first }]
      await stores.deliveries.record(results)
      // The same results again, as after a lost answer.
      await stores.deliveries.record(results)
      expect((await stores.deliveries.progressOf(['a'])).get('a')?.endedAddresses).toEqual(first)
      await stores.deliveries.record([{ ...outcomeOf('a', 2, 500), endedAddresses: [ended('t3', 'taken', 2)] }])
      expect((await stores.delivery('a'))?.ended_addresses).toEqual([...first, ended('t3', 'taken', 2)])
      const { ladder_from, ...document } = (await stores.delivery('a')) as DeliveryDocument
      expect(ladder_from).toBeUndefined()
      const anew = progressOf({ ...document, ladder_from: { attempt: 3, at: new Date(NOW) } })
      expect(anew.endedAddresses?.map(one => one.tag)).toEqual(['t1', 't3'])
    })

    test('that wait for a channel are found page by page, oldest first, in a window', async () => {
      const at = (minute: number) => new Date(NOW + minute * 60_000)
      const waiting = (id: string, minute: number, dueMinute = minute) => ({
        ...newDocument(id),
        created_at: at(minute),
        next_attempt: { attempt: 1, due_at: at(dueMinute), topic: 'deliveries' },
      })
      const others = [
        { ...waiting('other_channel', 2), channel_id: 'chn_2' },
        { ...waiting('a_test', 2), test: true },
        { ...waiting('too_old', 0) },
        { ...waiting('delivered', 2), state: 'delivered' as const, next_attempt: null },
        { ...waiting('planned_for_later', 2, 90), state: 'retrying' as const },
      ]
      await stores.deliveries.insertNew([waiting('c', 3), waiting('b', 2), waiting('a', 2), waiting('d', 1), ...others])
      const wanted = { channelId: 'chn_1', createdFromMs: NOW + 60_000, dueByMs: NOW + 600_000 }
      const first = await stores.deliveries.findWaiting({ ...wanted, after: null, limit: 2 })
      expect(first.map(one => one._id)).toEqual(['d', 'a'])
      expect(first[0]).toEqual(await stores.delivery('d'))
      const rest = await stores.deliveries.findWaiting({ ...wanted, after: first[1] ?? null, limit: 9 })
      expect(rest.map(one => one._id)).toEqual(['b', 'c'])
      const all = await stores.deliveries.findWaiting({ ...wanted, dueByMs: NOW + 6_000_000, after: null, limit: 9 })
      expect(all.map(one => one._id)).toEqual(['d', 'a', 'b', 'planned_for_later', 'c'])
    })

    test('remember that they go alone, once a digest with them was refused', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])
      await stores.deliveries.record([{ ...outcomeOf('a', 1, 500), goesAlone: true }, outcomeOf('b', 1, 500)])
      await stores.deliveries.record([outcomeOf('a', 2, 500, NOW + 6_000)])
      const progress = await stores.deliveries.progressOf(['a', 'b'])
      expect([progress.get('a')?.goesAlone, progress.get('b')?.goesAlone]).toEqual([true, false])
    })

    test('remember the digest that must be repeated with them', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])
      await stores.deliveries.record([{ ...outcomeOf('a', 1, 500), digestGroup: 'dlv_digest' }, outcomeOf('b', 1, 500)])
      const progress = await stores.deliveries.progressOf(['a', 'b'])
      expect([progress.get('a')?.digestGroup, progress.get('b')?.digestGroup]).toEqual(['dlv_digest', null])
    })

    test('of a failed digest are found while they wait to be repeated together', async () => {
      await stores.deliveries.insertNew(['a', 'b', 'c', 'd', 'e'].map(id => newDocument(id)))
      const failed = (id: string) => ({ ...outcomeOf(id, 1, 500), digestGroup: 'dlv_digest' })
      const another = { ...outcomeOf('e', 1, 500), digestGroup: 'dlv_other' }
      await stores.deliveries.record([
        failed('a'),
        failed('b'),
        failed('c'),
        { ...failed('d'), goesAlone: true },
        another,
      ])
      await stores.deliveries.record([outcomeOf('b', 2, 200, NOW + 6_000)])
      const found = await stores.deliveries.findDigest('dlv_digest')
      expect(found.map(one => one._id).toSorted()).toEqual(['a', 'c'])
      expect(await stores.deliveries.findDigest('dlv_unknown')).toEqual([])
    })

    test('take the same result twice without a complaint, as when the answer to the first write was lost', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b')])
      const ending = { kind: 'ends', reason: 'channel_deleted', text: 'Gone' } as const
      const results = [outcomeOf('a', 1, 500), outcomeWithoutAttempt({ deliveryId: 'b', attempt: 1 }, ending, NOW)]
      expect(await stores.deliveries.record(results)).toEqual(new Set())
      expect(await stores.deliveries.record(results)).toEqual(new Set())
      expect((await stores.delivery('a'))?.attempts).toHaveLength(1)
      expect(await stores.delivery('b')).toMatchObject({ state: 'dead', reason: 'Gone', attempts: [] })
    })
  })

  describe(`${name}: a delivery whose alert is part of a later message`, () => {
    const order = (deliveryId: string, waitsFor: number | null) => ({ deliveryId, byId: 'by', waitsFor, atMs: NOW + 5 })

    test('ends visibly, whether it waited, was retried or was dead', async () => {
      await stores.deliveries.insertNew([newDocument('a'), newDocument('b'), newDocument('c'), newDocument('d')])
      const ending = { kind: 'ends', reason: 'channel_deleted', text: 'Gone' } as const
      await stores.deliveries.record([
        outcomeOf('b', 1, 500),
        outcomeWithoutAttempt({ deliveryId: 'c', attempt: 1 }, ending, NOW),
        outcomeOf('d', 1, 200),
      ])
      const orders = [order('a', 1), order('b', 2), order('c', null), order('d', 1), order('unknown', 1)]
      expect(await stores.deliveries.supersede(orders)).toEqual(new Set(['d', 'unknown']))
      // The same orders again, as after a lost answer.
      expect(await stores.deliveries.supersede(orders.slice(0, 3))).toEqual(new Set())
      expect(await stores.deliveries.supersede([])).toEqual(new Set())
      for (const id of ['a', 'b', 'c']) {
        expect(await stores.delivery(id)).toMatchObject({
          state: 'superseded',
          told_by: 'by',
          next_attempt: null,
          updated_at: new Date(NOW + 5),
        })
      }
      expect((await stores.delivery('b'))?.attempts).toHaveLength(1)
      expect((await stores.delivery('d'))?.state).toBe('delivered')
      expect((await stores.deliveries.progressOf(['a'])).get('a')).toMatchObject({ state: 'superseded', next: null })
    })

    test('does not change a delivery that changed in the meantime', async () => {
      await stores.deliveries.insertNew([newDocument('a')])
      await stores.deliveries.record([outcomeOf('a', 1, 500)])
      expect(await stores.deliveries.supersede([order('a', 1)])).toEqual(new Set(['a']))
      expect((await stores.delivery('a'))?.state).toBe('retrying')
    })
  })

  describe(`${name}: channels`, () => {
    const url = 'https://receiver.example.com'
    const report = (channelId: string) =>
      stores.health.record([
        { channelId, projectId: PROJECT, reports: [{ kind: 'failed', atMs: NOW, error: 'Later' }] },
      ])
    const disable = async (channelId: string) => {
      await report(channelId)
      await stores.health.disable([disableChannel({ channelId, projectId: PROJECT, name: 'Ops' }, 'Gone', NOW)])
    }

    test('to fan out to are those of the project that are on and not deleted; channels disabled by their health are included', async () => {
      const filter = { connection_ids: ['con_1'], kinds: null, minimum_amounts: { eur: 5000 } }
      await stores.putChannel(webhookChannel('chn_on', url, undefined, { shows_personal_data: true, filter }))
      await stores.putChannel(webhookChannel('chn_off', url, undefined, { enabled: false }))
      await stores.putChannel(webhookChannel('chn_gone', url, undefined, { deleted_at: new Date(NOW) }))
      await stores.putChannel(webhookChannel('chn_other', url, undefined, { project_id: 'prj_other' }))
      await stores.putChannel(webhookChannel('chn_ill', url))
      await disable('chn_ill')
      await report('chn_on')
      const common = { projectId: PROJECT, events: ['incident.opened'], audience: 'programs' }
      const listeners = await stores.channels.findSubscribedChannels([PROJECT])
      expect(listeners.toSorted((a, b) => a.channelId.localeCompare(b.channelId))).toEqual([
        { ...common, channelId: 'chn_ill', name: 'chn_ill', showsPersonalData: false, filter: null },
        { ...common, channelId: 'chn_on', name: 'chn_on', showsPersonalData: true, filter },
      ])
    })

    test('are found with the silences of connections in a period', async () => {
      const at = (minutes: number) => new Date(NOW + minutes * 60_000)
      const put = (_id: string, connection_id: string, created_at: Date, ends_at: Date) =>
        stores.putSilence({
          ...{ _id, connection_id, created_at, ends_at },
          ...{ project_id: PROJECT, reason: 'Migration', created_by: 'key_1', ended_by: null },
        })
      await put('sil_over', 'con_1', at(-20), at(-10))
      await put('sil_overlaps', 'con_1', at(-5), at(5))
      await put('sil_later', 'con_1', at(11), at(20))
      await put('sil_of_other', 'con_2', at(-5), at(5))
      const question = { connectionIds: ['con_1', 'con_3'], from: at(-10), to: at(10) }
      const found = await stores.channels.findSilences(question)
      expect(found).toEqual([{ _id: 'sil_overlaps', connection_id: 'con_1', created_at: at(-5), ends_at: at(5) }])
    })

    test('are found with the names of their project and its connections', async () => {
      await stores.putProject(PROJECT, 'Acme Games')
      await stores.putConnection('con_1', PROJECT, 'Shop Germany')
      await stores.putConnection('con_2', 'prj_other', 'Shop of others')
      await stores.putActor('acr_1', PROJECT, 'Support tool')
      await stores.putActor('acr_2', 'prj_other', 'Tool of others')
      await stores.putActor('acr_3', PROJECT, null)
      const names = await stores.channels.findNames([PROJECT, 'prj_unknown'])
      expect(names).toEqual(
        new Map([
          [
            PROJECT,
            {
              name: 'Acme Games',
              connections: new Map([['con_1', 'Shop Germany']]),
              deletedConnections: new Set(),
              actors: new Map([['acr_1', 'Support tool']]),
            },
          ],
        ]),
      )
    })

    test('are found by id with why their health disabled them, deleted ones too', async () => {
      await stores.putChannel(webhookChannel('chn_gone', url, undefined, { deleted_at: new Date(NOW) }))
      await stores.putChannel(webhookChannel('chn_ill', url))
      await disable('chn_ill')
      const found = await stores.channels.findChannels(['chn_gone', 'chn_ill', 'chn_unknown'])
      const byId = new Map(found.map(record => [record.channel._id, record]))
      expect([...byId.keys()].sort()).toEqual(['chn_gone', 'chn_ill'])
      expect(byId.get('chn_gone')).toMatchObject({ disabledReason: null, channel: { deleted_at: new Date(NOW) } })
      expect(byId.get('chn_ill')).toMatchObject({
        disabledReason: 'Gone',
        channel: { config: { kind: 'webhook', url } },
      })
    })
  })
}
