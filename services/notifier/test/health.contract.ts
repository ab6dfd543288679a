/** The suite that every health store passes, in memory and on MongoDB. */

import { PROJECT } from '@backstop/channels/test'
import type { ChannelHold } from '@backstop/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { HealthStore } from '../src/health/health-store.ts'
import type { HealthReport } from '../src/health/rules/channel-health.ts'
import { disableChannel, enableChannel } from '../src/health/rules/channel-health.ts'
import { openFailing, resolveFailing } from '../src/health/rules/failing-channel.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const DAY = 86_400_000
const OF = { channelId: 'chn_1', projectId: PROJECT, name: 'Ops' }

const failed = (atMs: number, error = 'No answer'): HealthReport => ({ kind: 'failed', atMs, error })
const worked = (atMs: number): HealthReport => ({ kind: 'worked', atMs, error: null })

export function describeHealth(name: string, open: () => Promise<HealthStore>): void {
  let store: HealthStore
  beforeEach(async () => {
    store = await open()
  })
  const report = (...reports: HealthReport[]) => store.record([{ channelId: 'chn_1', projectId: PROJECT, reports }])
  const health = () => store.find('chn_1')

  describe(`${name}: what is recorded of a channel's health`, () => {
    test('shows a fault of the notifier, which is no failure of the channel', async () => {
      await report({ kind: 'held_up', atMs: NOW, error: 'Our proxy is away' })
      expect(await health()).toMatchObject({
        last_failure_at: new Date(NOW),
        last_error: 'Our proxy is away',
        failing_since: null,
        undelivered_since: new Date(NOW),
        days: {},
      })
    })

    test('begins with the first report', async () => {
      expect(await health()).toBeUndefined()
      await report(worked(NOW))
      expect(await health()).toEqual({
        _id: 'chn_1',
        project_id: PROJECT,
        last_success_at: new Date(NOW),
        last_failure_at: null,
        last_error: null,
        failing_since: null,
        undelivered_since: null,
        days: { '2026-11-21': { delivered: 1, failed: 0 } },
        disabled_at: null,
        disabled_reason: null,
        disabled_incident_id: null,
      })
    })

    const hold = (sinceMs: number, forMs = 5_000): ChannelHold => ({
      since: new Date(sinceMs),
      until: new Date(sinceMs + forMs),
      reason: 'failing',
    })
    const holdFrom = (held: ChannelHold | null) => store.recordHolds([{ channelId: 'chn_1', projectId: PROJECT, held }])

    test('has the latest pause until a success after it', async () => {
      await report(worked(NOW), failed(NOW + 1))
      await holdFrom(hold(NOW + 1))
      await holdFrom(hold(NOW + 6_000, 10_000))
      expect(await health()).toMatchObject({ held: hold(NOW + 6_000, 10_000), last_success_at: new Date(NOW) })
      const found = await store.findHeld(['chn_1', 'chn_2'])
      expect(found).toMatchObject([{ _id: 'chn_1', failing_since: new Date(NOW + 1) }])
      // A success from before the pause is reported late.
      await report(worked(NOW + 5_000))
      expect((await health())?.held).toEqual(hold(NOW + 6_000, 10_000))
      await report(failed(NOW + 7_000))
      expect((await health())?.held).toEqual(hold(NOW + 6_000, 10_000))
      await report(worked(NOW + 8_000))
      expect(await health()).not.toHaveProperty('held')
      expect(await store.findHeld(['chn_1'])).toEqual([])
    })

    const reach = (reason: string | null, atMs = NOW) =>
      store.recordReach([
        {
          channelId: 'chn_1',
          projectId: PROJECT,
          unreached: reason === null ? null : { since: new Date(atMs), reason },
        },
      ])

    test('knows since when it delivers nothing, whoever caused it', async () => {
      await report(failed(NOW), { kind: 'held_up', atMs: NOW + 1, error: 'Our proxy is away' })
      await report({ kind: 'held_up', atMs: NOW + 2, error: 'Our proxy is away' })
      expect(await store.findTroubled()).toMatchObject([{ _id: 'chn_1', undelivered_since: new Date(NOW) }])
      await report(worked(NOW + 3))
      expect(await store.findTroubled()).toEqual([])
    })

    test('reaches nobody since the first report of that, until it reaches somebody', async () => {
      await reach(null)
      expect(await store.findTroubled()).toEqual([])
      await reach('1 unsubscribed')
      await reach('$2 unsubscribed', NOW + 5)
      expect(await store.findTroubled()).toMatchObject([
        { _id: 'chn_1', project_id: PROJECT, unreached: { since: new Date(NOW), reason: '$2 unsubscribed' } },
      ])
      await report({ kind: 'held_up', atMs: NOW + 6, error: 'No mail was sent' })
      await reach(null)
      expect(await store.findTroubled()).toEqual([])
    })

    test('has one incident about that, of the first of several processes', async () => {
      await report(failed(NOW))
      const [first, second] = [NOW + 1, NOW + 2].map(atMs => openFailing(OF, 'It answers 500', atMs))
      if (first === undefined || second === undefined) throw new Error('no orders')
      expect(await store.changeFailing([first])).toMatchObject([{ documentId: 'chn_1', entries: [first.entry] }])
      expect(await store.changeFailing([second])).toMatchObject([{ entries: [first.entry] }])
      await report(worked(NOW + 3))
      expect(await store.findTroubled()).toMatchObject([{ failing_incident_id: first.incidentId }])
      const ends = [second, first].map(({ incidentId }) => resolveFailing(OF, incidentId, 'recovered', NOW + 4))
      await store.changeFailing(ends)
      expect(await health()).toMatchObject({ failing_incident_id: null, outbox: [first.entry, ends[1]?.entry] })
      // The channel has worked since it was read.
      await store.changeFailing([openFailing(OF, 'It answers 500', NOW + 5)])
      expect(await health()).toMatchObject({ failing_incident_id: null })
    })

    test('has no pause that is recorded late, after the success that ended it', async () => {
      await report(worked(NOW + 2_000))
      await holdFrom(hold(NOW + 1_000))
      expect(await health()).not.toHaveProperty('held')
    })

    test('begins with a pause if that is recorded before the first report', async () => {
      await holdFrom(hold(NOW))
      expect(await health()).toEqual({
        _id: 'chn_1',
        project_id: PROJECT,
        disabled_at: null,
        disabled_reason: null,
        disabled_incident_id: null,
        last_success_at: null,
        last_failure_at: null,
        last_error: null,
        held: hold(NOW),
      })
      await holdFrom(null)
      expect(await health()).not.toHaveProperty('held')
      await store.recordHolds([{ channelId: 'chn_2', projectId: PROJECT, held: null }])
      expect(await store.find('chn_2')).toBeUndefined()
    })

    test('keeps the last success, the last failure and the last error, in whatever order they are reported', async () => {
      await report(failed(NOW + 5, '$last "error"'), worked(NOW + 9))
      await report(worked(NOW + 1))
      expect(await health()).toMatchObject({
        last_success_at: new Date(NOW + 9),
        last_failure_at: new Date(NOW + 5),
        last_error: '$last "error"',
      })
    })

    test('knows since when it does nothing but fail', async () => {
      await report(failed(NOW), failed(NOW + 1))
      await report(failed(NOW + 2))
      expect((await health())?.failing_since).toEqual(new Date(NOW))
      await report(worked(NOW + 3))
      expect((await health())?.failing_since).toBeNull()
      await report(failed(NOW + 4), worked(NOW + 5), failed(NOW + 6))
      expect((await health())?.failing_since).toEqual(new Date(NOW + 6))
    })

    test('counts attempts by day, for seven days', async () => {
      await report(worked(NOW), failed(NOW))
      await report(worked(NOW), worked(NOW + DAY))
      expect((await health())?.days).toEqual({
        '2026-11-21': { delivered: 2, failed: 1 },
        '2026-11-22': { delivered: 1, failed: 0 },
      })
      await report(failed(NOW + 7 * DAY))
      expect((await health())?.days).toEqual({
        '2026-11-22': { delivered: 1, failed: 0 },
        '2026-11-28': { delivered: 0, failed: 1 },
      })
    })

    test('accepts an empty list of reports', () => store.record([]))
  })

  describe(`${name}: a channel`, () => {
    test('is found when it has failed for long, unless it is disabled already', async () => {
      await report(failed(NOW))
      await store.record([{ channelId: 'chn_2', projectId: PROJECT, reports: [worked(NOW)] }])
      expect(await store.failingSince(['chn_1', 'chn_2', 'chn_3'], NOW - 1)).toEqual([])
      expect((await store.failingSince(['chn_1', 'chn_2', 'chn_3'], NOW)).map(one => one._id)).toEqual(['chn_1'])
      expect(await store.failingSince(['chn_2'], NOW)).toEqual([])
      await store.disable([disableChannel(OF, 'Gone', NOW)])
      expect(await store.failingSince(['chn_1'], NOW)).toEqual([])
    })

    test('is disabled once, for the first reason, with a command in its outbox', async () => {
      await report(failed(NOW))
      const first = disableChannel(OF, 'Gone', NOW)
      expect(await store.disable([first])).toEqual([{ documentId: 'chn_1', entries: [first.entry] }])
      // The same order again, as after a lost answer, and a later order for the same channel.
      expect(await store.disable([first])).toEqual([{ documentId: 'chn_1', entries: [first.entry] }])
      expect(await store.disable([disableChannel(OF, 'Gone again', NOW + 1)])).toEqual([])
      expect(await store.disable([disableChannel({ ...OF, channelId: 'chn_9' }, 'Gone', NOW)])).toEqual([])
      expect(await health()).toMatchObject({
        disabled_at: new Date(NOW),
        disabled_reason: 'Gone',
        disabled_incident_id: first.incidentId,
        outbox: [first.entry],
      })
    })

    test('works again when it is enabled, and the incident is to be resolved after it was opened', async () => {
      await report(failed(NOW))
      const order = disableChannel(OF, 'Gone', NOW)
      await store.disable([order])
      const decision = enableChannel(await health(), PROJECT, NOW + 5)
      if (decision.kind !== 'enable') throw new Error(decision.reason)
      const pending = await store.enable('chn_1', decision)
      expect(pending?.entries.map(entry => (entry.message as { kind: string }).kind)).toEqual([
        'open_channel_incident',
        'resolve_channel_incident',
      ])
      expect(await health()).toMatchObject({ disabled_at: null, disabled_incident_id: null, failing_since: null })
      // The decision resolves the incident it was made for. A later incident about the same channel stays open.
      await store.disable([disableChannel(OF, 'Gone again', NOW + 6)])
      expect(await store.enable('chn_1', decision)).toBeUndefined()
      expect((await health())?.disabled_reason).toBe('Gone again')
    })

    test('has its outbox swept by age until it is published', async () => {
      await report(failed(NOW))
      const order = disableChannel(OF, 'Gone', NOW)
      await store.disable([order])
      expect(await store.outbox.pending(NOW, 10)).toEqual([])
      expect(await store.outbox.pending(NOW + 1, 10)).toEqual([{ documentId: 'chn_1', entries: [order.entry] }])
      await store.outbox.published([{ documentId: 'chn_1', entryIds: [order.entry.id] }])
      expect(await store.outbox.pending(NOW + 1, 10)).toEqual([])
    })
  })
}
