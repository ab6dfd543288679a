import { type ActionRecord, type Subject, withAll } from './subject.ts'

/**
 * The card processor calls one payment by two ids, its charge and its payment intent, and an event may leave one of them out.
 * What links them may come later: another refund, the total of the charge, a dispute.
 */

type Names = ReadonlyMap<string, ReadonlySet<string>>

/** The subject in which every refund and total of a payment has all the payment's names that are known by now. */
export function joinPaymentNames(subject: Subject): Subject {
  const names = namesOfPayments(subject)
  if (names.size === 0) return subject
  return {
    ...subject,
    actions: withNames(subject.actions, names, isOfPayment),
    refundTotals: withNames(subject.refundTotals, names, () => true),
  }
}

/** Disputes link the names, too. A reversal names its refund beside them, which is no name of the payment. */
function isOfPayment({ kind, provider }: ActionRecord): boolean {
  return provider === 'processor' && (kind === 'refund' || kind === 'dispute')
}

function namesOfPayments({ actions, refundTotals }: Subject): Names {
  const names = new Map<string, Set<string>>()
  const shown = actions.filter(isOfPayment).flatMap(({ objectIds, sides }) => {
    return sides.length === 0
      ? [objectIds]
      : sides.flatMap(side => (side.provider === 'processor' ? [side.objectIds] : []))
  })
  for (const ids of [...shown, ...refundTotals.map(total => total.objectIds)]) {
    const [first, second] = ids
    if (first === undefined || second === undefined) continue
    if (names.has(first) && names.get(first) === names.get(second) && ids.length === 2) continue
    const joined = new Set([...ids, ...ids.flatMap(id => [...(names.get(id) ?? [])])])
    for (const id of joined) names.set(id, joined)
  }
  return names
}

/** The list itself where all have their names already. */
function withNames<T extends { readonly objectIds: readonly string[] }>(
  records: readonly T[],
  names: Names,
  isNamed: (record: T) => boolean,
): readonly T[] {
  const lacksNames = (record: T) => isNamed(record) && missingNames(record.objectIds, names).length > 0
  if (!records.some(lacksNames)) return records
  return records.map(record => {
    if (!lacksNames(record)) return record
    return { ...record, objectIds: withAll(record.objectIds, missingNames(record.objectIds, names)) }
  })
}

function missingNames(ids: readonly string[], names: Names): readonly string[] {
  return ids.flatMap(id => {
    const all = names.get(id)
    return all === undefined || (ids.length === all.size && ids.every(one => all.has(one)))
      ? []
      : [...all].filter(name => !ids.includes(name))
  })
}
