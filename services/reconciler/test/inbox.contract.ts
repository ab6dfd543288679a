import type { InboxDocument } from '@backstop/contracts'
import { T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Inbox, InboxEntry } from '../src/inbox/inbox-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'
import { inboxEntry, inboxReplay } from './inbox-entries.ts'

/** The tests for every implementation of the inbox. Each test gets an empty store. */
export function inboxContract(
  name: string,
  open: () => Promise<Pick<ReconcilerStores, 'inbox' | 'inboxReplays'>>,
): void {
  describe(`inbox, ${name}`, () => {
    let inbox: Inbox
    /** The stored entries of these events of con_a, as a replay reads them. */
    let stored: (...eventIds: string[]) => Promise<InboxEntry[]>
    beforeEach(async () => {
      const { inbox: opened, inboxReplays } = await open()
      inbox = opened
      stored = (...event_ids) => inboxReplays.page(inboxReplay({ event_ids, from: null, to: null }), 10)
    })

    test('the inbox knows its entries, and a repeated insert changes nothing', async () => {
      const entry = inboxEntry('evt_1')
      await inbox.insert([entry])
      await inbox.insert([entry, inboxEntry('evt_2')])
      expect(await inbox.known(['con_a/evt_1', 'con_a/evt_2', 'con_a/evt_3'])).toEqual(
        new Set(['con_a/evt_1', 'con_a/evt_2']),
      )
    })

    test('a dead-lettered event is known but not done, and its entry is replaced when it arrives again', async () => {
      const ids = ['con_a/evt_parked']
      await inbox.insert([inboxEntry('evt_parked', { outcome: 'parked', reason: 'A fault of ours' })])
      expect(await inbox.known(ids)).toEqual(new Set(ids))
      expect(await inbox.done(ids)).toEqual(new Set())
      await inbox.insert([inboxEntry('evt_parked', { outcome: 'recorded' })])
      await inbox.insert([inboxEntry('evt_parked', { outcome: 'parked', reason: 'Too late' })])
      expect(await inbox.done(ids)).toEqual(new Set(ids))
    })

    test('a body that is kept before its event is decided belongs to the entry, also of a dead-lettered event', async () => {
      await inbox.insert([inboxEntry('evt_parked', { outcome: 'parked' }, '"first"')])
      const entries = ['evt_parked', 'evt_new'].map(id => inboxEntry(id, {}, '"second"'))
      await inbox.keepBodies(
        entries.map(({ document: { _id, received_at } }) => ({ _id, received_at, body: '"second"' })),
      )
      expect(await inbox.done(entries.map(({ document }) => document._id))).toEqual(new Set())
      await inbox.insert(entries.map(entry => ({ ...entry, isBodyKept: true })))
      const found = await stored('evt_parked', 'evt_new')
      expect(found.map(({ document: { event_id, outcome }, body }) => [event_id, outcome, body]).sort()).toEqual([
        ['evt_new', 'recorded', '"second"'],
        ['evt_parked', 'recorded', '"second"'],
      ])
    })

    test('a replayed event changes the outcome of its entry and adds its actions', async () => {
      const decided = (outcome: InboxDocument['outcome'], ...action_ids: string[]) =>
        inboxEntry('evt_1', { outcome, action_ids, replay_id: `rpl_${outcome}` })
      await inbox.insert([decided('ignored')])
      await inbox.decideAgain([decided('recorded', 'act_1').document])
      await inbox.decideAgain([decided('recorded', 'act_1', 'act_2').document])
      const expected = { outcome: 'recorded', action_ids: ['act_1', 'act_2'], replay_id: 'rpl_recorded' }
      expect(await stored('evt_1', 'evt_none')).toMatchObject([{ document: expected }])
      // An event that is done stays done when a replay cannot use it.
      await inbox.decideAgain([decided('parked').document])
      expect(await stored('evt_1')).toMatchObject([{ document: expected }])
    })

    test('the newest notification of given types is found by its connection and time', async () => {
      const at = (minutes: number) => new Date(T0 + minutes * 60_000)
      await inbox.insert([
        inboxEntry('evt_1', { event_type: 'v1.refund.created', received_at: at(1) }),
        inboxEntry('evt_2', { event_type: 'v1.refund.updated', received_at: at(2) }),
        inboxEntry('evt_3', { event_type: 'refund.created', received_at: at(3) }),
        inboxEntry('evt_4', { event_type: 'v1.refund.created', received_at: at(4), connection_id: 'con_b' }),
      ])
      const newest = (since: Date) =>
        inbox.newestOf('con_a', ['v1.refund.created', 'v1.refund.updated'], since.getTime())
      expect(await newest(at(0))).toBe(at(2).getTime())
      expect(await newest(at(2))).toBe(at(2).getTime())
      expect(await newest(at(3))).toBeNull()
    })

    test('held hints are found by their connection, oldest first, until they are requested', async () => {
      const hint = (id: string, connection_id: string, receivedAt: number) =>
        inboxEntry(id, { connection_id, provider: 'subscription', outcome: 'held', received_at: new Date(receivedAt) })
      const [late, early, other] = [hint('b', 'con_a', T0 + 1), hint('a', 'con_a', T0), hint('c', 'con_b', T0)]
      await inbox.insert([late, early, other])
      expect(await inbox.held('con_a', 10)).toEqual([early, late])
      expect(await inbox.held('con_a', 1)).toEqual([early])
      await inbox.release([early.document._id])
      expect(await inbox.held('con_a', 10)).toEqual([late])
      await inbox.hold([early.document._id, 'con_a/unknown'], 'The provider refused the read key')
      const [again] = await inbox.held('con_a', 1)
      expect(again?.document).toMatchObject({ _id: 'con_a/a', reason: 'The provider refused the read key' })
    })
  })
}
