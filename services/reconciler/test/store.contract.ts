import {
  type Action,
  type ActionDocument,
  type ConnectionDocument,
  deterministicId,
  type ExpectedChangeDocument,
  type InboxReplayDocument,
  type IncidentOutcomeDocument,
  objectReference,
} from '@backstop/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ActionRecord } from '../src/case/action-record.ts'
import type { Case } from '../src/case/case.ts'
import { decide } from '../src/decision/decide.ts'
import { openChannelIncident } from '../src/incidents/rules/failing-channel.ts'
import {
  type CaseChange,
  type InboxEntry,
  MAX_FOUND_PER_SUBJECT,
  type NamedConnection,
  type OpenActionPosition,
  type ReconcilerStores,
} from '../src/store/store.ts'
import { type ListingState, projectAction, projectActions } from '../src/verdict/projection.ts'
import { contextAt, emptyCase, MINUTE, onlyAction, operation, PROJECT, refundSeen, T0 } from './fixtures.ts'
import { connectionOf } from './recorded-shop.ts'

const KEY = { sealed: 'k', fingerprint: 'f', created_at: new Date(T0), expires_at: null }
const ref = (id: string) => objectReference(PROJECT, 'processor', undefined, id)

/** A case with one pending refund. All its ids end in `name`. */
function pendingCase(name: string): Case {
  const input = refundSeen({ id: `re_${name}`, charge: `ch_${name}`, paymentIntent: `pi_${name}` })
  return decide({ ...emptyCase(), id: `sub_${name}` }, input, contextAt(T0))
}

/** A listed action that was not merged and has no second look. */
const LISTED = { mergedInto: null, lookResult: undefined, isDecided: false } as const
const insert = (next: Case): CaseChange => ({ next, before: undefined, added: next.outbox, replacedCases: [] })
const update = (before: Case, changes: Partial<Case> = {}): CaseChange => ({
  next: { ...before, ...changes, version: before.version + 1 },
  before,
  added: [],
  replacedCases: [],
})

/**
 * The stores, and functions for data that the reconciler's ports cannot read or write: an action as other services read
 * it, and expected changes as admin-api writes them.
 */
export interface StoresUnderTest {
  readonly stores: ReconcilerStores
  action(actionId: string): Promise<Pick<ActionDocument, 'version' | 'merged_into'> | undefined>
  addExpectedChanges(expectedChanges: readonly ExpectedChangeDocument[]): Promise<void>
  addConnection(connection: ConnectionDocument, projectName: string | null): Promise<void>
}

/** An expected change that covers any refund and expires at T0. */
export function expectedChangeDocument(
  _id: string,
  more: Partial<ExpectedChangeDocument> = {},
): ExpectedChangeDocument {
  return {
    _id,
    project_id: PROJECT,
    connection_id: null,
    kind: 'refund',
    subject: null,
    amount: null,
    currency: null,
    max_changes: 1,
    max_amount: null,
    starts_at: null,
    note: 'Goodwill',
    created_by: 'key_1',
    created_at: new Date(T0 - MINUTE),
    expires_at: new Date(T0),
    ...more,
  }
}

/** The tests for every implementation of the reconciler's stores. Each test gets empty stores. */
export function storeContract(name: string, open: () => Promise<StoresUnderTest>): void {
  describe(`reconciler stores, ${name}`, () => {
    let stores: ReconcilerStores
    let listedAction: StoresUnderTest['action']
    let addExpectedChanges: StoresUnderTest['addExpectedChanges']
    let addConnection: StoresUnderTest['addConnection']
    beforeEach(async () => {
      ;({ stores, action: listedAction, addExpectedChanges, addConnection } = await open())
    })

    test('a saved case is found completely by each of its references', async () => {
      const theCase = pendingCase('a')
      expect(await stores.cases.save([insert(theCase)])).toEqual(new Set())
      expect(await stores.cases.load([ref('ch_a')])).toEqual([theCase])
      expect(await stores.cases.load([ref('pi_a'), ref('re_a')])).toEqual([theCase])
      expect(await stores.cases.load([ref('pi_z')])).toEqual([])
    })

    test('the versions of operations that cases know are found by any reference, and change with the case', async () => {
      const { cases } = stores
      const known = (version: number) => operation({ operation_id: 'op_1', version })
      const without = pendingCase('b')
      const theCase = { ...pendingCase('a'), operations: [known(2)] }
      await cases.save([insert(theCase), insert(without)])
      expect(await cases.knownOperations([ref('ch_a'), ref('pi_a'), ref('pi_z')])).toEqual([
        { refs: theCase.refs, operations: ['op_1/2'] },
      ])
      expect(await cases.knownOperations([ref('pi_b')])).toEqual([{ refs: without.refs, operations: [] }])
      const later = { ...theCase, version: theCase.version + 1, operations: [known(3)] }
      await cases.save([{ next: later, before: theCase, added: [], replacedCases: [] }])
      expect(await cases.knownOperations([ref('pi_a')])).toMatchObject([{ operations: ['op_1/3'] }])
      const same = { ...later, version: later.version + 1, createdAt: T0 + 1 }
      await cases.save([{ next: same, before: later, added: [], replacedCases: [] }])
      expect(await cases.knownOperations([ref('pi_a')])).toMatchObject([{ operations: ['op_1/3'] }])
      const merged = { ...same, version: same.version + 1, refs: [...same.refs, ...without.refs] }
      const replacedCases = [{ id: without.id, version: without.version }]
      await cases.save([{ next: merged, before: same, added: [], replacedCases }])
      expect(await cases.knownOperations([ref('pi_b')])).toMatchObject([{ operations: ['op_1/3'] }])
      expect(await cases.knownOperations([])).toEqual([])
    })

    test('the search for operations is leased to one process at a time, goes on where it was, and never goes back', async () => {
      const { operationSearch: search } = stores
      const at = (second: number, operation_id = '') => ({
        updated_at: new Date(second * 1_000).toISOString(),
        operation_id,
      })
      const claims = await Promise.all([search.claim(at(1), 10, 20), search.claim(at(1), 10, 20)])
      expect(claims.filter(claim => claim !== undefined)).toEqual([{ position: at(1), wasInterrupted: false }])
      await search.advance(at(2, 'op_2'), 30)
      expect(await search.claim(at(9), 29, 40)).toBeUndefined()
      const interrupted = { position: at(2, 'op_2'), wasInterrupted: true }
      expect(await search.claim(at(9), 31, 40)).toEqual(interrupted)
      await search.advance(at(2, 'op_1'), null)
      expect(await search.claim(at(9), 32, 50)).toEqual({ ...interrupted, wasInterrupted: false })
    })

    test('a reference belongs to one case, and a second case with it is not written', async () => {
      await stores.cases.save([insert(pendingCase('a'))])
      const thief = { ...pendingCase('b'), refs: [ref('pi_b'), ref('ch_a')] }
      const other = pendingCase('c')
      expect(await stores.cases.save([insert(thief), insert(other)])).toEqual(new Set(['sub_b']))
      expect(await stores.cases.load([ref('pi_b')])).toEqual([])
      expect(await stores.cases.load([ref('pi_c')])).toHaveLength(1)
    })

    test('one of two writers of the same version succeeds and the other one is reported as lost', async () => {
      const theCase = pendingCase('a')
      await stores.cases.save([insert(theCase)])
      const [first, second] = await Promise.all([
        stores.cases.save([update(theCase)]),
        stores.cases.save([update(theCase)]),
      ])
      expect([first.size, second.size].sort()).toEqual([0, 1])
    })

    test('an update stores the same as an insert', async () => {
      const theCase = pendingCase('a')
      await stores.cases.save([insert(theCase)])
      const change = update(theCase, { refs: [...theCase.refs, ref('in_a')], actions: [] })
      await stores.cases.save([change])
      expect(await stores.cases.load([ref('in_a')])).toEqual([change.next])
    })

    test('a lost update does not affect the others of its batch', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await stores.cases.save([insert(a), insert(b)])
      await stores.cases.save([update(a)])
      expect(await stores.cases.save([update(a), update(b)])).toEqual(new Set(['sub_a']))
      expect((await stores.cases.load([ref('pi_b')]))[0]?.version).toBe(2)
    })

    test('an update adds to the outbox and does not restore entries that were published meanwhile', async () => {
      const theCase = pendingCase('a')
      await stores.cases.save([insert(theCase)])
      const entry = theCase.outbox[0]!
      await stores.cases.outbox.published([{ documentId: theCase.id, entryIds: [entry.id] }])
      const more = { ...entry, id: 'msg_more' }
      const change = { ...update(theCase, { outbox: [entry, more] }), added: [more] }
      expect(await stores.cases.save([change])).toEqual(new Set())
      expect((await stores.cases.load([ref('pi_a')]))[0]?.outbox).toEqual([more])
    })

    test('a merge deletes the other case in the same write', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await stores.cases.save([insert(a), insert(b)])
      const merged = { ...a, refs: [...a.refs, ...b.refs], version: 2 }
      const change = { next: merged, before: a, added: [], replacedCases: [{ id: b.id, version: 1 }] }
      expect(await stores.cases.save([change])).toEqual(new Set())
      expect(await stores.cases.load([ref('pi_b')])).toEqual([merged])
    })

    test('a merge changes nothing if its other case was written meanwhile', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await stores.cases.save([insert(a), insert(b)])
      await stores.cases.save([update(b)])
      const merged = { ...a, refs: [...a.refs, ...b.refs], version: 2 }
      const change = { next: merged, before: a, added: [], replacedCases: [{ id: b.id, version: 1 }] }
      expect(await stores.cases.save([change])).toEqual(new Set([a.id]))
      expect((await stores.cases.load([ref('pi_a')]))[0]).toEqual(a)
      expect((await stores.cases.load([ref('pi_b')]))[0]?.version).toBe(2)
    })

    test('an update of a case that was merged into another one is lost, and does not restore the case', async () => {
      const [a, b, c] = [pendingCase('a'), pendingCase('b'), pendingCase('c')]
      await stores.cases.save([insert(a), insert(b), insert(c)])
      const merged = { ...a, refs: [...a.refs, ...b.refs], version: 2 }
      await stores.cases.save([{ next: merged, before: a, added: [], replacedCases: [{ id: b.id, version: 1 }] }])
      expect(await stores.cases.save([update(b), update(c)])).toEqual(new Set([b.id]))
      const entryIds = b.outbox.map(entry => entry.id)
      await stores.cases.outbox.published([{ documentId: b.id, entryIds }])
      expect(await stores.cases.load(b.refs)).toEqual([merged])
    })

    test('a merge into a case that was written meanwhile changes nothing', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await stores.cases.save([insert(a), insert(b)])
      await stores.cases.save([update(a)])
      const merged = { ...a, refs: [...a.refs, ...b.refs], version: 2 }
      const change = { next: merged, before: a, added: [], replacedCases: [{ id: b.id, version: 1 }] }
      expect(await stores.cases.save([change])).toEqual(new Set([a.id]))
      expect(await stores.cases.load(b.refs)).toEqual([b])
    })

    test('in one batch, a case with a reference of another case is lost, and so is a case that was written meanwhile', async () => {
      const [a, b, c] = [pendingCase('a'), pendingCase('b'), pendingCase('c')]
      await stores.cases.save([insert(a), insert(b), insert(c)])
      await stores.cases.save([update(b)])
      const thief = update(c, { refs: [...c.refs, ref('pi_a')] })
      const lost = await stores.cases.save([thief, update(b), update(a), insert(pendingCase('d'))])
      expect(lost).toEqual(new Set([b.id, c.id]))
      expect(await stores.cases.load([ref('pi_c')])).toEqual([c])
      expect((await stores.cases.load([ref('pi_a')]))[0]?.version).toBe(2)
      expect(await stores.cases.load([ref('pi_d')])).toHaveLength(1)
    })

    test('the sweeper finds outboxes by the age of their entries, until they are published', async () => {
      const theCase = pendingCase('a')
      await stores.cases.save([insert(theCase)])
      expect(await stores.cases.outbox.pending(T0, 10)).toEqual([])
      expect(await stores.cases.outbox.pending(T0 + 1, 10)).toEqual([
        { documentId: theCase.id, entries: theCase.outbox },
      ])
      const entryIds = theCase.outbox.map(entry => entry.id)
      await stores.cases.outbox.published([{ documentId: theCase.id, entryIds }])
      expect(await stores.cases.outbox.pending(T0 + 1, 10)).toEqual([])
    })

    test('exactly the cases with an overdue look are found', async () => {
      await stores.cases.save([insert(pendingCase('a'))])
      expect(await stores.cases.withOverdueLook(T0 + 6 * MINUTE, 10)).toEqual([])
      const overdue = await stores.cases.withOverdueLook(T0 + 6 * MINUTE + 1, 10)
      expect(overdue.map(theCase => theCase.id)).toEqual(['sub_a'])
      const actions = overdue[0]!.actions.map(
        action => ({ ...action, verdict: 'explained', reason: 'made_before_connection' }) as ActionRecord,
      )
      await stores.cases.save([update(overdue[0]!, { actions })])
      expect(await stores.cases.withOverdueLook(T0 + 6 * MINUTE + 1, 10)).toEqual([])
    })

    test('an older projection never replaces a newer one, in any order', async () => {
      const theCase = pendingCase('a')
      const action = projectAction(theCase, onlyAction(theCase))
      const listed = (change: Partial<Action>, listing: ListingState = 'absent') => {
        return { action: { ...action, ...change }, ...LISTED, listing }
      }
      for (const listing of ['absent', 'outdated'] as const) {
        for (const version of [3, 1, 2]) await stores.projections.saveActions([listed({ version }, listing)])
      }
      const other = { version: 1, action_id: deterministicId('action', 'other') }
      await stores.projections.saveActions([listed({ version: 1 }), listed(other)])
      expect((await listedAction(action.action_id))?.version).toBe(3)
    })

    test('of two versions that are written at the same moment, the newer one is kept', async () => {
      const theCase = pendingCase('a')
      const action = projectAction(theCase, onlyAction(theCase))
      const ids = Array.from({ length: 100 }, (_, index) => deterministicId('action', `at once ${index}`))
      const save = (version: number, listing: ListingState) =>
        stores.projections.saveActions(
          ids.map(action_id => ({ action: { ...action, action_id, version }, ...LISTED, listing })),
        )
      await Promise.all([save(1, 'absent'), save(2, 'outdated'), save(1, 'outdated')])
      for (const id of ids) expect(await listedAction(id)).toMatchObject({ version: 2 })
    })

    test('a projection that may be listed is written if it is missing or older', async () => {
      const theCase = pendingCase('a')
      const action = projectAction(theCase, onlyAction(theCase))
      const listed = { ...LISTED, listing: 'current' } as const
      for (const version of [2, 1, 3, 3]) {
        const state = version === 1 ? 'failed' : 'succeeded'
        await stores.projections.saveActions([{ action: { ...action, version, state }, ...listed }])
        expect(await listedAction(action.action_id)).toMatchObject({
          version: Math.max(version, 2),
          state: 'succeeded',
        })
      }
    })

    test('a merged action refers to its new action, and an older projection does not undo that', async () => {
      const theCase = pendingCase('a')
      const action = projectAction(theCase, onlyAction(theCase))
      const listed = { ...LISTED, listing: 'outdated' } as const
      await stores.projections.saveActions([{ action: { ...action, version: 2 }, ...listed, mergedInto: 'act_other' }])
      await stores.projections.saveActions([{ action, ...listed, listing: 'absent' }])
      expect(await listedAction(action.action_id)).toMatchObject({ version: 2, merged_into: 'act_other' })
    })

    test('details that a newer projection no longer has are removed', async () => {
      const theCase = pendingCase('a')
      const action = projectAction(theCase, onlyAction(theCase))
      const origin = {
        channel: 'api',
        key_name: null,
        user: 'Canary ann',
        request_id: null,
        idempotency_key: null,
      } as const
      const customer = { id: null, name: 'Canary ann', email: null }
      const listed = LISTED
      const known = { ...action, version: 1, origin, customer }
      await stores.projections.saveActions([{ action: known, ...listed, listing: 'absent' }])
      await stores.projections.saveActions([{ action: { ...action, version: 2 }, ...listed, listing: 'outdated' }])
      expect(JSON.stringify(await listedAction(action.action_id))).not.toContain('Canary')
    })

    test('the inbox knows its entries, and a repeated insert changes nothing', async () => {
      const entry = {
        document: {
          _id: 'con_a/evt_1',
          project_id: PROJECT,
          connection_id: 'con_a',
          provider: 'processor' as const,
          event_id: 'evt_1',
          event_type: 'refund.created',
          outcome: 'recorded' as const,
          reason: 'The event was recorded',
          action_ids: [],
          received_at: new Date(T0),
          processed_at: new Date(T0),
        },
        body: '{"id":"evt_1"}',
      }
      await stores.inbox.insert([entry])
      await stores.inbox.insert([entry, { ...entry, document: { ...entry.document, _id: 'con_a/evt_2' } }])
      expect(await stores.inbox.known(['con_a/evt_1', 'con_a/evt_2', 'con_a/evt_3'])).toEqual(
        new Set(['con_a/evt_1', 'con_a/evt_2']),
      )
    })

    test('a dead-lettered event is known but not done, and its entry is replaced when it arrives again', async () => {
      const entry = (outcome: 'parked' | 'recorded', reason: string): InboxEntry => ({
        document: {
          _id: 'con_a/evt_parked',
          project_id: PROJECT,
          connection_id: 'con_a',
          provider: 'processor',
          event_id: 'evt_parked',
          event_type: 'refund.created',
          outcome,
          reason,
          action_ids: [],
          received_at: new Date(T0),
          processed_at: new Date(T0),
        },
        body: JSON.stringify(reason),
      })
      const ids = ['con_a/evt_parked']
      await stores.inbox.insert([entry('parked', 'A fault of ours')])
      expect(await stores.inbox.known(ids)).toEqual(new Set(ids))
      expect(await stores.inbox.done(ids)).toEqual(new Set())
      await stores.inbox.insert([entry('recorded', 'The event was recorded')])
      await stores.inbox.insert([entry('parked', 'Too late')])
      expect(await stores.inbox.done(ids)).toEqual(new Set(ids))
    })

    test('a body that is kept before its event is decided belongs to the entry, also of a dead-lettered event', async () => {
      const at = { received_at: new Date(T0), processed_at: new Date(T0) }
      const document = (id: string, outcome: 'parked' | 'recorded'): InboxEntry['document'] => ({
        ...{ _id: `con_a/${id}`, project_id: PROJECT, connection_id: 'con_a', provider: 'processor' },
        ...{ event_id: id, event_type: 'x', outcome, reason: 'x', action_ids: [], ...at },
      })
      await stores.inbox.insert([{ document: document('evt_parked', 'parked'), body: '"first"' }])
      const ids = ['evt_parked', 'evt_new']
      await stores.inbox.keepBodies(
        ids.map(id => ({ _id: `con_a/${id}`, received_at: new Date(T0), body: '"second"' })),
      )
      expect(await stores.inbox.done(ids.map(id => `con_a/${id}`))).toEqual(new Set())
      await stores.inbox.insert(
        ids.map(id => ({ document: document(id, 'recorded'), body: '"second"', isBodyKept: true })),
      )
      const replay = replayOf({ event_ids: ids, from: null, to: null })
      const stored = await stores.inboxReplays.page(replay, 10)
      expect(stored.map(({ document: { event_id, outcome }, body }) => [event_id, outcome, body]).sort()).toEqual([
        ['evt_new', 'recorded', '"second"'],
        ['evt_parked', 'recorded', '"second"'],
      ])
    })

    test('a replayed event changes the outcome of its entry and adds its actions', async () => {
      const document = (outcome: 'parked' | 'recorded' | 'ignored', action_ids: string[]): InboxEntry['document'] => ({
        ...{ _id: 'con_a/evt_1', project_id: PROJECT, connection_id: 'con_a', provider: 'processor' as const },
        ...{ event_id: 'evt_1', event_type: 'refund.created', outcome, reason: outcome, action_ids },
        ...{ received_at: new Date(T0), processed_at: new Date(T0), replay_id: `rpl_${outcome}` },
      })
      await stores.inbox.insert([{ document: document('ignored', []), body: '{}' }])
      const replay = replayOf({ event_ids: ['evt_1', 'evt_none'], from: null, to: null })
      const stored = async () => (await stores.inboxReplays.page(replay, 10))[0]?.document
      await stores.inbox.decideAgain([document('recorded', ['act_1'])])
      await stores.inbox.decideAgain([document('recorded', ['act_1', 'act_2'])])
      expect(await stored()).toMatchObject({ outcome: 'recorded', action_ids: ['act_1', 'act_2'] })
      // An event that is done stays done when a replay cannot use it.
      await stores.inbox.decideAgain([document('parked', [])])
      expect(await stored()).toMatchObject({ outcome: 'recorded', replay_id: 'rpl_recorded' })
    })

    const replayOf = (more: Partial<InboxReplayDocument> = {}): InboxReplayDocument => ({
      ...{ _id: 'rpl_1', project_id: PROJECT, connection_id: 'con_a', event_ids: null, outcome: null },
      ...{ from: new Date(T0), to: new Date(T0 + 100), state: 'running', total: 3, replayed: 0, skipped_erased: 0 },
      ...{ skipped_objects: 0, requested_at: new Date(T0), cursor: null, next_page_at: new Date(T0) },
      ...{ finished_at: null },
      ...more,
    })

    test('a replay of the inbox selects entries by window, outcome or id, oldest first, page by page', async () => {
      const entry = (id: string, receivedAt: number, more: Partial<InboxEntry['document']> = {}): InboxEntry => ({
        document: {
          ...{ _id: `${more.connection_id ?? 'con_a'}/${id}`, project_id: PROJECT, connection_id: 'con_a' },
          ...{ provider: 'processor' as const, event_id: id, event_type: 'x', outcome: 'recorded', reason: 'x' },
          ...{ action_ids: [], received_at: new Date(receivedAt), processed_at: new Date(receivedAt) },
          ...more,
        },
        body: more.outcome === 'held' ? null : '{}',
      })
      await stores.inbox.insert([
        entry('c', T0 + 5, { outcome: 'parked' }),
        entry('b', T0 + 5),
        entry('a', T0, { outcome: 'held' }),
        entry('late', T0 + 100),
        entry('early', T0 - 1),
        entry('other', T0, { connection_id: 'con_b' }),
        entry('foreign', T0, { project_id: 'prj_other' }),
      ])
      const replay = replayOf()
      const page = async (of: InboxReplayDocument, limit = 10) =>
        (await stores.inboxReplays.page(of, limit)).map(({ document, body }) => [document.event_id, body])
      expect(await stores.inboxReplays.count(PROJECT, replay)).toBe(3)
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
      const { inboxReplays } = stores
      expect(await inboxReplays.begin(replayOf())).toBe(true)
      expect(await inboxReplays.begin(replayOf({ total: 9 }))).toBe(false)
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

    test('held hints are found by their connection, oldest first, until they are requested', async () => {
      const hint = (id: string, connectionId: string, receivedAt: number) => ({
        document: {
          _id: `${connectionId}/${id}`,
          project_id: PROJECT,
          connection_id: connectionId,
          provider: 'subscription' as const,
          event_id: id,
          event_type: 'payment_refunded',
          outcome: 'held' as const,
          reason: 'No read key',
          action_ids: [],
          received_at: new Date(receivedAt),
          processed_at: new Date(receivedAt),
        },
        body: `{"id":"${id}"}`,
      })
      const [late, early, other] = [hint('b', 'con_a', T0 + 1), hint('a', 'con_a', T0), hint('c', 'con_b', T0)]
      await stores.inbox.insert([late, early, other])
      expect(await stores.inbox.held('con_a', 10)).toEqual([early, late])
      expect(await stores.inbox.held('con_a', 1)).toEqual([early])
      await stores.inbox.release([early.document._id])
      expect(await stores.inbox.held('con_a', 10)).toEqual([late])
      await stores.inbox.hold([early.document._id, 'con_a/unknown'], 'The provider refused the read key')
      const [again] = await stores.inbox.held('con_a', 1)
      expect(again?.document).toMatchObject({ _id: 'con_a/a', reason: 'The provider refused the read key' })
    })

    describe('expected changes', () => {
      const found = async (names: string[], expiringAfter = T0 - MINUTE, projectIds = [PROJECT]) => {
        const expectedChanges = await stores.expectedChanges.find({ projectIds, names, expiringAfter })
        return expectedChanges.map(({ _id }) => _id).sort()
      }

      test('are found by their subject, or if they have none; those of other projects are not', async () => {
        await addExpectedChanges([
          expectedChangeDocument('any'),
          expectedChangeDocument('pi_1', { subject: 'pi_1' }),
          expectedChangeDocument('pi_2', { subject: 'pi_2' }),
          expectedChangeDocument('pi_3', { subject: 'pi_3' }),
          expectedChangeDocument('other', { project_id: 'prj_other' }),
          expectedChangeDocument('other_pi_1', { project_id: 'prj_other', subject: 'pi_1' }),
        ])
        expect(await found(['pi_1', 'pi_2', 'pi_0'])).toEqual(['any', 'pi_1', 'pi_2'])
        expect(await found([])).toEqual(['any'])
        expect(await found(['pi_1'], T0, [PROJECT, 'prj_other'])).toEqual(['any', 'other', 'other_pi_1', 'pi_1'])
      })

      test('are found completely until long after they expired', async () => {
        const expectedChange = expectedChangeDocument('exp_1', { subject: 'pi_1', amount: 2499, currency: 'eur' })
        await addExpectedChanges([expectedChange])
        expect(
          await stores.expectedChanges.find({ projectIds: [PROJECT], names: ['pi_1'], expiringAfter: T0 }),
        ).toEqual([expectedChange])
        expect(await found(['pi_1'], T0 + 1)).toEqual([])
      })

      test('are limited to those that expire last, and many in one project do not hide those of another', async () => {
        const flood = Array.from({ length: MAX_FOUND_PER_SUBJECT + 1 }, (_, index) =>
          expectedChangeDocument(`exp_${index}`, { expires_at: new Date(T0 + index) }),
        )
        await addExpectedChanges([
          ...flood,
          expectedChangeDocument('named', { subject: 'pi_1' }),
          expectedChangeDocument('other', { project_id: 'prj_other' }),
        ])
        const ids = await found(['pi_1'], T0, [PROJECT, 'prj_other'])
        expect(ids).toHaveLength(MAX_FOUND_PER_SUBJECT + 2)
        expect(ids).not.toContain('exp_0')
        expect(ids).toEqual(expect.arrayContaining(['named', 'other', 'exp_1']))
      })
    })

    test('expected changes are found by their ids and by their time of creation', async () => {
      const [old, young] = [
        expectedChangeDocument('old'),
        expectedChangeDocument('young', { created_at: new Date(T0) }),
      ]
      await addExpectedChanges([young, old])
      expect(await stores.expectedChanges.byIds(['young', 'none'])).toEqual([young])
      expect(await stores.expectedChanges.madeSince(T0, 10)).toEqual([young])
      expect(await stores.expectedChanges.madeSince(T0 - MINUTE, 1)).toEqual([young])
    })

    test('a deleted expected change is not found', async () => {
      const deleted = expectedChangeDocument('deleted', {
        created_at: new Date(T0),
        deleted_at: new Date(T0),
        deleted_by: 'key_1',
      })
      await addExpectedChanges([deleted])
      const { project_id, subject } = deleted
      const query = { projectIds: [project_id], names: subject === null ? [] : [subject], expiringAfter: 0 }
      expect(await stores.expectedChanges.find(query)).toEqual([])
      expect(await stores.expectedChanges.byIds(['deleted'])).toEqual([])
      expect(await stores.expectedChanges.madeSince(T0, 10)).toEqual([])
    })

    test('the newest expected changes are found for each project, so many in one project do not hide those of another', async () => {
      const flood = [1, 2, 3].map(index => expectedChangeDocument(`exp_${index}`, { created_at: new Date(T0 + index) }))
      await addExpectedChanges([...flood, expectedChangeDocument('other', { project_id: 'prj_other' })])
      const found = await stores.expectedChanges.madeSince(T0 - MINUTE, 2)
      expect(found.map(({ _id }) => _id).sort()).toEqual(['exp_2', 'exp_3', 'other'])
    })

    test('a connection is read with the name of its project', async () => {
      const { connections } = stores
      await addConnection(
        connectionOf('con_named', { name: 'Shop', project_id: 'prj_named', read_key: KEY }),
        'Webshop',
      )
      await addConnection(
        connectionOf('con_other', { name: 'Tickets', project_id: 'prj_other', read_key: KEY }),
        'Concerts',
      )
      await addConnection(connectionOf('con_bare', { name: 'Old shop', project_id: 'prj_none', read_key: KEY }), null)
      const read = await connections.byIds(['con_named', 'con_bare', 'con_other', 'con_none'])
      const names = (list: Iterable<NamedConnection>) =>
        [...list].map(({ name, project_name }) => [name, project_name]).sort()
      const expected = [
        ['Old shop', null],
        ['Shop', 'Webshop'],
        ['Tickets', 'Concerts'],
      ]
      expect(names(read.values())).toEqual(expected)
      expect(names(await connections.readable())).toEqual(expected)
      expect(await connections.projectName('prj_named')).toBe('Webshop')
      expect(await connections.projectName('prj_none')).toBe(null)
    })

    test('one of two writers of the uses of an expected change succeeds', async () => {
      const { expectedChangeUses } = stores
      expect(await expectedChangeUses.load(['exp_1'])).toEqual(new Map())
      const uses = (version: number, ...names: string[]) => ({
        id: 'exp_1',
        projectId: PROJECT,
        version,
        uses: names.map(actionId => ({ actionId, amount: 5, caseVersion: 3 })),
        expiresAt: T0,
      })
      expect(await expectedChangeUses.save(uses(1, 'act_1'))).toBe(true)
      expect(await expectedChangeUses.save(uses(1, 'act_2'))).toBe(false)
      expect(await expectedChangeUses.save(uses(2, 'act_1', 'act_2'))).toBe(true)
      expect(await expectedChangeUses.save(uses(2))).toBe(false)
      expect(await expectedChangeUses.load(['exp_1', 'exp_2'])).toEqual(new Map([['exp_1', uses(2, 'act_1', 'act_2')]]))
    })

    test('actions with an open incident are found page by page, oldest incident first', async () => {
      const at = (index: number) => new Date(T0 + index).toISOString()
      const incidents = [3, 1, 2, 4].map(index => ({
        ...channelIncident().incident,
        incident_id: `inc_${index}`,
        code: index === 4 ? ('REFUND_REJECTED' as const) : ('UNEXPECTED_ACTION' as const),
        action_id: `act_${index}`,
        opened_at: at(index),
      }))
      for (const { action_id } of incidents) {
        const [projected] = projectActions(pendingCase(action_id))
        const action = { ...projected!.action, action_id }
        await stores.projections.saveActions([{ ...projected!, action }])
      }
      await stores.projections.saveIncidents(incidents.map(incident => ({ incident, listing: 'absent' })))
      const idsOf = async (after?: OpenActionPosition, limit = 2) =>
        (await stores.openActions.page(PROJECT, after, limit)).map(({ action }) => action._id)
      expect(await idsOf()).toEqual(['act_1', 'act_2'])
      expect(await idsOf({ openedAt: T0 + 2, incidentId: 'inc_2' })).toEqual(['act_3'])
      const resolved = { ...incidents[1]!, state: 'resolved' as const, version: 2 }
      await stores.projections.saveIncidents([{ incident: resolved, listing: 'outdated' }])
      expect(await idsOf(undefined, 9)).toEqual(['act_2', 'act_3'])
      expect(await stores.openActions.page('prj_other', undefined, 9)).toEqual([])
      const byIds = await stores.openActions.byIds(['act_1', 'act_2', 'act_none'])
      expect(byIds.map(({ _id }) => _id).sort()).toEqual(['act_1', 'act_2'])
    })

    test('an incident of a channel is opened once, with its messages, which are swept until they are published', async () => {
      const { standaloneIncidents: channelIncidents } = stores
      const told = channelIncident()
      const id = told.incident.incident_id
      expect(await channelIncidents.find(id)).toBeUndefined()
      expect(await channelIncidents.pendingOf(id)).toEqual({ documentId: id, entries: [] })
      const pending = { documentId: id, entries: told.entries }
      expect(await channelIncidents.open(told)).toEqual(pending)
      expect(await channelIncidents.open({ ...told, entries: [] })).toEqual(pending)
      expect(await channelIncidents.find(id)).toEqual(told.incident)
      expect(await channelIncidents.outbox.pending(T0, 10)).toEqual([])
      expect(await channelIncidents.outbox.pending(T0 + 1, 10)).toEqual([pending])
      const entryIds = told.entries.map(entry => entry.id)
      await channelIncidents.outbox.published([{ documentId: id, entryIds }])
      expect(await channelIncidents.outbox.pending(T0 + 1, 10)).toEqual([])
    })

    test('the first outcome of a command that changes an incident is kept', async () => {
      const { incidentOutcomes } = stores
      const refused: IncidentOutcomeDocument = {
        _id: 'cmd_1',
        project_id: PROJECT,
        incident_id: 'inc_1',
        outcome: 'refused',
        reason: 'state',
        detail: 'Resolved by Ann',
        at: new Date(T0),
      }
      await incidentOutcomes.insert([refused])
      await incidentOutcomes.insert([{ ...refused, outcome: 'changed', reason: null, detail: null }])
      expect(await incidentOutcomes.byCommands(['cmd_1', 'cmd_none'])).toEqual([refused])
    })

    test('one of two writers of an incident of a channel succeeds, and its messages are added', async () => {
      const { standaloneIncidents: channelIncidents } = stores
      const told = channelIncident()
      await channelIncidents.open(told)
      const next = { ...told, incident: { ...told.incident, state: 'resolved' as const, version: 2 } }
      const added = { ...next, entries: [{ ...told.entries[0]!, id: 'msg_more' }] }
      expect((await channelIncidents.replace(added))?.entries).toEqual([...told.entries, ...added.entries])
      expect(await channelIncidents.replace(added)).toBeUndefined()
      expect(await channelIncidents.find(told.incident.incident_id)).toMatchObject({ state: 'resolved', version: 2 })
    })
  })
}

function channelIncident() {
  return openChannelIncident(
    {
      kind: 'open_channel_incident',
      command_id: 'cmd_1',
      project_id: PROJECT,
      requested_at: new Date(T0).toISOString(),
      incident_id: 'inc_channel',
      channel_id: 'chn_1',
      channel_name: 'Ops',
      reason: 'Gone',
    },
    T0,
  )
}
