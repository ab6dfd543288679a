import { type Case, nextErasureAt, pendingLooks, versionName } from '@backstop/verdict'
import type { CaseChange, CaseStore } from '../../src/cases/case-store.ts'

/** Cases in memory, for simulations. @param cases the stored data */
export function createMemoryCases(cases: Map<string, Case>): CaseStore {
  const all = () => [...cases.values()]
  const withAny = (refs: readonly string[]) => all().filter(theCase => theCase.refs.some(ref => refs.includes(ref)))
  /** When personal data of each case must be erased, or had to be. */
  const personalUntil = new Map<string, number>()
  return {
    load: async refs => withAny(refs),
    knownOperations: async refs =>
      withAny(refs).map(({ refs: own, operations }) => ({ refs: own, operations: operations.map(versionName) })),
    save: async changes => {
      const lost = new Set(changes.filter(change => !save(cases, change)).map(change => change.next.id))
      for (const { next } of changes.filter(change => !lost.has(change.next.id))) {
        const until = Math.min(nextErasureAt(next) ?? Infinity, personalUntil.get(next.id) ?? Infinity)
        personalUntil.set(next.id, until)
      }
      return lost
    },
    withOverdueLook: async (before, limit) =>
      all()
        .filter(theCase => pendingLooks(theCase).some(look => look.wakeAt < before))
        .slice(0, limit),
    withExpiredPersonalData: async (at, limit) =>
      all()
        .filter(({ id }) => (personalUntil.get(id) ?? Infinity) <= at)
        .slice(0, limit),
    confirmErasure: async erased => {
      for (const theCase of erased) {
        if (cases.get(theCase.id)?.version !== theCase.version) continue
        personalUntil.set(theCase.id, nextErasureAt(theCase) ?? Infinity)
      }
    },
    page: async (projectId, after, limit) =>
      all()
        .filter(theCase => theCase.projectId === projectId && theCase.id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    outbox: {
      pending: async (writtenBefore, limit) =>
        all()
          .filter(theCase => theCase.outbox.some(entry => entry.at < writtenBefore))
          .slice(0, limit)
          .map(theCase => ({ documentId: theCase.id, entries: theCase.outbox })),
      published: async documents => {
        for (const { documentId, entryIds } of documents) {
          const theCase = cases.get(documentId)
          if (theCase === undefined) continue
          const outbox = theCase.outbox.filter(entry => !entryIds.includes(entry.id))
          cases.set(documentId, { ...theCase, outbox })
        }
      },
    },
  }
}

function save(cases: Map<string, Case>, change: CaseChange): boolean {
  const current = cases.get(change.next.id)
  if ((current?.version ?? 0) !== (change.before?.version ?? 0)) return false
  if (change.replacedCases.some(({ id, version }) => cases.get(id)?.version !== version)) return false
  const rewritten = new Set([change.next.id, ...change.replacedCases.map(({ id }) => id)])
  const others = [...cases.values()].filter(theCase => !rewritten.has(theCase.id))
  if (others.some(theCase => theCase.refs.some(ref => change.next.refs.includes(ref)))) return false
  for (const { id } of change.replacedCases) cases.delete(id)
  const isPlainUpdate = current !== undefined && change.replacedCases.length === 0
  const outbox = isPlainUpdate ? [...current.outbox, ...change.added] : change.next.outbox
  cases.set(change.next.id, structuredClone({ ...change.next, outbox }) as Case)
  return true
}
