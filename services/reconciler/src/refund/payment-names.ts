import { type ActionRecord, type Case, type EvictedRecord, isProvisional } from '../case/case.ts'

/**
 * The card processor calls one payment by two ids, its charge and its payment intent, and an event may leave one of them out.
 * What links them may come later: another refund, the total of the charge, a dispute. An intent may have several charges.
 */

/** The names that each name of a payment was seen with. */
export type LinkedNames = ReadonlyMap<string, ReadonlySet<string>>

/** The case in which every refund and dispute of a payment has the names of its own charge that are known by now. */
export function joinPaymentNames(theCase: Case): Case {
  const links = linkedNames(theCase)
  if (links.size === 0) return theCase
  const actions = theCase.actions.map(action => (isOfPayment(action) ? withNames(action, links) : action))
  return actions.every((action, index) => action === theCase.actions[index]) ? theCase : { ...theCase, actions }
}

/** Disputes link the names, too. A reversal names its refund beside them, which is no name of the payment. */
function isOfPayment({ provider, ...record }: ActionRecord): boolean {
  return provider === 'processor' && showsPayment(record)
}

function showsPayment({ kind }: Pick<ActionRecord, 'kind'>): boolean {
  return kind === 'refund' || kind === 'dispute'
}

/** As the processor's own objects say it: what a record was given before may hold no longer. */
export function linkedNames({ actions, evicted, refundTotals }: Case): LinkedNames {
  const links = new Map<string, Set<string>>()
  const shown: (ActionRecord | EvictedRecord)[] = [...actions, ...evicted].filter(showsPayment)
  const sides = shown.flatMap(record => record.sides).filter(({ provider }) => provider === 'processor')
  for (const { objectIds } of [...sides, ...actions.filter(isProvisional), ...refundTotals]) {
    if (objectIds.length < 2) continue
    for (const id of objectIds) {
      const others = links.get(id) ?? new Set()
      for (const other of objectIds) if (other !== id) others.add(other)
      links.set(id, others)
    }
  }
  return links
}

/**
 * The names with those of the same charge. A charge has one intent; an intent says which charge is meant only where one is
 * known: what happened to one charge of a payment says nothing of another.
 */
export function namesOfCharge(ids: readonly string[], links: LinkedNames): readonly string[] {
  const partners = ids.flatMap(id => {
    const linked = links.get(id)
    return linked?.size === 1 ? [...linked] : []
  })
  return [...new Set([...ids, ...partners])]
}

/** The record itself where it has these names already. */
function withNames(record: ActionRecord, links: LinkedNames): ActionRecord {
  const { sides, objectIds } = record
  const own = sides.length === 0 ? objectIds : sides.flatMap(side => side.objectIds)
  const names = namesOfCharge(own, links)
  const isSame = names.length === objectIds.length && names.every(name => objectIds.includes(name))
  return isSame ? record : { ...record, objectIds: names }
}
