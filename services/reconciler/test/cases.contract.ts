import { objectReference } from '@backstop/contracts'
import { type ActionRecord, type Case, decide } from '@backstop/verdict'
import { contextAt, emptyCase, MINUTE, operation, PROJECT, refundSeen, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { CaseChange, CaseStore } from '../src/cases/case-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'

const ref = (id: string) => objectReference(PROJECT, 'processor', undefined, id)

/** A case with one pending refund. All its ids end in `name`. */
function pendingCase(name: string): Case {
  const input = refundSeen({ id: `re_${name}`, charge: `ch_${name}`, paymentIntent: `pi_${name}` })
  return decide({ ...emptyCase(), id: `sub_${name}` }, input, contextAt(T0))
}

const insert = (next: Case): CaseChange => ({ next, before: undefined, added: next.outbox, replacedCases: [] })
const update = (before: Case, changes: Partial<Case> = {}): CaseChange => ({
  next: { ...before, ...changes, version: before.version + 1 },
  before,
  added: [],
  replacedCases: [],
})
/** Merges another case into one, and removes the other. */
const mergeOf = (into: Case, other: Case): CaseChange => ({
  ...update(into, { refs: [...into.refs, ...other.refs] }),
  replacedCases: [{ id: other.id, version: other.version }],
})

/** The tests for every implementation of the store of cases. Each test gets an empty store. */
export function caseContract(name: string, open: () => Promise<Pick<ReconcilerStores, 'cases'>>): void {
  describe(`cases, ${name}`, () => {
    let cases: CaseStore
    beforeEach(async () => {
      ;({ cases } = await open())
    })

    test('a saved case is found completely by each of its references', async () => {
      const theCase = pendingCase('a')
      expect(await cases.save([insert(theCase)])).toEqual(new Set())
      expect(await cases.load([ref('ch_a')])).toEqual([theCase])
      expect(await cases.load([ref('pi_a'), ref('re_a')])).toEqual([theCase])
      expect(await cases.load([ref('pi_z')])).toEqual([])
    })

    test('the versions of operations that cases know are found by any reference, and change with the case', async () => {
      const known = (version: number) => operation({ operation_id: 'op_1', version })
      const without = pendingCase('b')
      const theCase = { ...pendingCase('a'), operations: [known(2)] }
      await cases.save([insert(theCase), insert(without)])
      expect(await cases.knownOperations([ref('ch_a'), ref('pi_a'), ref('pi_z')])).toEqual([
        { refs: theCase.refs, operations: ['op_1/2'] },
      ])
      expect(await cases.knownOperations([ref('pi_b')])).toEqual([{ refs: without.refs, operations: [] }])
      const later = update(theCase, { operations: [known(3)] })
      await cases.save([later])
      expect(await cases.knownOperations([ref('pi_a')])).toMatchObject([{ operations: ['op_1/3'] }])
      const same = update(later.next, { createdAt: T0 + 1 })
      await cases.save([same])
      expect(await cases.knownOperations([ref('pi_a')])).toMatchObject([{ operations: ['op_1/3'] }])
      await cases.save([mergeOf(same.next, without)])
      expect(await cases.knownOperations([ref('pi_b')])).toMatchObject([{ operations: ['op_1/3'] }])
      expect(await cases.knownOperations([])).toEqual([])
    })

    test('a reference belongs to one case, and a second case with it is not written', async () => {
      await cases.save([insert(pendingCase('a'))])
      const thief = { ...pendingCase('b'), refs: [ref('pi_b'), ref('ch_a')] }
      const other = pendingCase('c')
      expect(await cases.save([insert(thief), insert(other)])).toEqual(new Set(['sub_b']))
      expect(await cases.load([ref('pi_b')])).toEqual([])
      expect(await cases.load([ref('pi_c')])).toHaveLength(1)
    })

    test('one of two writers of the same version succeeds and the other one is reported as lost', async () => {
      const theCase = pendingCase('a')
      await cases.save([insert(theCase)])
      const [first, second] = await Promise.all([cases.save([update(theCase)]), cases.save([update(theCase)])])
      expect([first.size, second.size].sort()).toEqual([0, 1])
    })

    test('an update stores the same as an insert', async () => {
      const theCase = pendingCase('a')
      await cases.save([insert(theCase)])
      const change = update(theCase, { refs: [...theCase.refs, ref('in_a')], actions: [] })
      await cases.save([change])
      expect(await cases.load([ref('in_a')])).toEqual([change.next])
    })

    test('a lost update does not affect the others of its batch', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await cases.save([insert(a), insert(b)])
      await cases.save([update(a)])
      expect(await cases.save([update(a), update(b)])).toEqual(new Set(['sub_a']))
      expect((await cases.load([ref('pi_b')]))[0]?.version).toBe(2)
    })

    test('an update adds to the outbox and does not restore entries that were published meanwhile', async () => {
      const theCase = pendingCase('a')
      await cases.save([insert(theCase)])
      const entry = theCase.outbox[0]!
      await cases.outbox.published([{ documentId: theCase.id, entryIds: [entry.id] }])
      const more = { ...entry, id: 'msg_more' }
      const change = { ...update(theCase, { outbox: [entry, more] }), added: [more] }
      expect(await cases.save([change])).toEqual(new Set())
      expect((await cases.load([ref('pi_a')]))[0]?.outbox).toEqual([more])
    })

    test('a merge deletes the other case in the same write', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await cases.save([insert(a), insert(b)])
      const merge = mergeOf(a, b)
      expect(await cases.save([merge])).toEqual(new Set())
      expect(await cases.load([ref('pi_b')])).toEqual([merge.next])
    })

    test('a merge changes nothing if its other case was written meanwhile', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await cases.save([insert(a), insert(b)])
      await cases.save([update(b)])
      expect(await cases.save([mergeOf(a, b)])).toEqual(new Set([a.id]))
      expect((await cases.load([ref('pi_a')]))[0]).toEqual(a)
      expect((await cases.load([ref('pi_b')]))[0]?.version).toBe(2)
    })

    test('an update of a case that was merged into another one is lost, and does not restore the case', async () => {
      const [a, b, c] = [pendingCase('a'), pendingCase('b'), pendingCase('c')]
      await cases.save([insert(a), insert(b), insert(c)])
      const merge = mergeOf(a, b)
      await cases.save([merge])
      expect(await cases.save([update(b), update(c)])).toEqual(new Set([b.id]))
      const entryIds = b.outbox.map(entry => entry.id)
      await cases.outbox.published([{ documentId: b.id, entryIds }])
      expect(await cases.load(b.refs)).toEqual([merge.next])
    })

    test('a merge into a case that was written meanwhile changes nothing', async () => {
      const [a, b] = [pendingCase('a'), pendingCase('b')]
      await cases.save([insert(a), insert(b)])
      await cases.save([update(a)])
      expect(await cases.save([mergeOf(a, b)])).toEqual(new Set([a.id]))
      expect(await cases.load(b.refs)).toEqual([b])
    })

    test('in one batch, a case with a reference of another case is lost, and so is a case that was written meanwhile', async () => {
      const [a, b, c] = [pendingCase('a'), pendingCase('b'), pendingCase('c')]
      await cases.save([insert(a), insert(b), insert(c)])
      await cases.save([update(b)])
      const thief = update(c, { refs: [...c.refs, ref('pi_a')] })
      const lost = await cases.save([thief, update(b), update(a), insert(pendingCase('d'))])
      expect(lost).toEqual(new Set([b.id, c.id]))
      expect(await cases.load([ref('pi_c')])).toEqual([c])
      expect((await cases.load([ref('pi_a')]))[0]?.version).toBe(2)
      expect(await cases.load([ref('pi_d')])).toHaveLength(1)
    })

    test('the sweeper finds outboxes by the age of their entries, until they are published', async () => {
      const theCase = pendingCase('a')
      await cases.save([insert(theCase)])
      expect(await cases.outbox.pending(T0, 10)).toEqual([])
      expect(await cases.outbox.pending(T0 + 1, 10)).toEqual([{ documentId: theCase.id, entries: theCase.outbox }])
      const entryIds = theCase.outbox.map(entry => entry.id)
      await cases.outbox.published([{ documentId: theCase.id, entryIds }])
      expect(await cases.outbox.pending(T0 + 1, 10)).toEqual([])
    })

    test('exactly the cases with an overdue look are found', async () => {
      await cases.save([insert(pendingCase('a'))])
      expect(await cases.withOverdueLook(T0 + 6 * MINUTE, 10)).toEqual([])
      const overdue = await cases.withOverdueLook(T0 + 6 * MINUTE + 1, 10)
      expect(overdue.map(theCase => theCase.id)).toEqual(['sub_a'])
      const actions = overdue[0]!.actions.map(
        action => ({ ...action, verdict: 'explained', reason: 'made_before_connection' }) as ActionRecord,
      )
      await cases.save([update(overdue[0]!, { actions })])
      expect(await cases.withOverdueLook(T0 + 6 * MINUTE + 1, 10)).toEqual([])
    })
  })
}
