import type { InboxReplayDocument } from '@backstop/contracts'
import { PROJECT, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Inbox } from '../src/inbox/inbox-store.ts'
import type { InboxReplayStore } from '../src/inbox-replay/inbox-replay-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'
import { inboxEntry, inboxReplay } from './inbox-entries.ts'

/** The tests for every implementation of the replays of the inbox. Each test gets empty stores. */
export function inboxReplayContract(
  name: string,
  open: () => Promise<Pick<ReconcilerStores, 'inbox' | 'inboxReplays'>>,
): void {
  describe(`inbox replays, ${name}`, () => {
    let inbox: Inbox
    let inboxReplays: InboxReplayStore
    beforeEach(async () => {
      ;({ inbox, inboxReplays } = await open())
    })

    test('a replay of the inbox selects entries by window, outcome or id, oldest first, page by page', async () => {
      const at = (receivedAt: number) => ({ received_at: new Date(receivedAt) })
      await inbox.insert([
        inboxEntry('c', { ...at(T0 + 5), outcome: 'parked' }, '{}'),
        inboxEntry('b', at(T0 + 5), '{}'),
        inboxEntry('a', { ...at(T0), outcome: 'held' }, null),
        inboxEntry('late', at(T0 + 100), '{}'),
        inboxEntry('early', at(T0 - 1)),
        inboxEntry('other', { ...at(T0), connection_id: 'con_b' }),
        inboxEntry('foreign', { ...at(T0), project_id: 'prj_other' }),
      ])
      const replay = inboxReplay()
      const page = async (of: InboxReplayDocument, limit = 10) =>
        (await inboxReplays.page(of, limit)).map(({ document, body }) => [document.event_id, body])
      expect(await inboxReplays.count(PROJECT, replay)).toBe(3)
      expect(await page(replay, 2)).toEqual([
        ['a', null],
        ['b', '{}'],
      ])
      const cursor = { received_at: new Date(T0 + 5), inbox_id: 'con_a/b' }
      expect(await page({ ...replay, cursor })).toEqual([['c', '{}']])
      expect(await page({ ...replay, outcome: 'parked' })).toEqual([['c', '{}']])
      expect(await page({ ...replay, event_ids: ['late', 'none'], from: null, to: null })).toEqual([['late', '{}']])
    })

    test('a replay of the inbox begins once, is claimed by one process at a time, and ends', async () => {
      expect(await inboxReplays.begin(inboxReplay())).toBe(true)
      expect(await inboxReplays.begin(inboxReplay({ total: 9 }))).toBe(false)
      expect(await inboxReplays.claim(T0 - 1, T0)).toBeUndefined()
      const claimed = await inboxReplays.claim(T0, T0 + 30)
      if (claimed === undefined) throw new Error('Nothing to claim')
      expect(claimed).toMatchObject({ _id: 'rpl_1', total: 3 })
      expect(await inboxReplays.claim(T0 + 29, T0 + 60)).toBeUndefined()
      const cursor = { received_at: new Date(T0), inbox_id: 'con_a/a' }
      const { state, skipped_erased, skipped_objects, finished_at } = claimed
      const next = {
        state,
        replayed: 2,
        skipped_erased,
        skipped_objects,
        cursor,
        next_page_at: new Date(T0),
        finished_at,
      }
      await inboxReplays.advance(claimed, next)
      // Another process took over the same page.
      await inboxReplays.advance(claimed, { ...next, replayed: 4 })
      const again = await inboxReplays.claim(T0, T0 + 30)
      if (again === undefined) throw new Error('Nothing to claim')
      expect(again).toMatchObject({ replayed: 2, cursor })
      await inboxReplays.advance(again, { ...next, state: 'done', finished_at: new Date(T0 + 7) })
      expect(await inboxReplays.claim(T0 + 99, T0 + 100)).toBeUndefined()
    })
  })
}
