import { type ActionRecord, isProvisional } from '../case/action-record.ts'
import { type Case, type EvictedRecord, withAll } from '../case/case.ts'

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
function isOfPayment(record: ActionRecord): boolean {
  return record.provider === 'processor' && showsPayment(record)
}

function showsPayment({ kind }: Pick<ActionRecord, 'kind'>): boolean {
  return kind === 'refund' || kind === 'dispute'
}

/** As the processor's own objects say it: what a record was given before may hold no longer. */
export function linkedNames({ actions, evicted, refundTotals }: Case): LinkedNames {
  const links = new Map<string, Set<string>>()
  let last: readonly string[] = []
  const link = (ids: readonly string[]) => {
    // Nearly all records of a flood have the same names.
    if (ids.length < 2 || (ids.length === last.length && ids.every((id, index) => id === last[index]))) return
    last = ids
    for (const id of ids) {
      const others = links.get(id) ?? new Set()
      for (const other of ids) if (other !== id) others.add(other)
      links.set(id, others)
    }
  }
  const linkSides = (record: ActionRecord | EvictedRecord) => {
    if (!showsPayment(record)) return
    for (const { provider, objectIds } of record.sides) if (provider === 'processor') link(objectIds)
  }
  actions.forEach(linkSides)
  evicted.forEach(linkSides)
  for (const action of actions) if (isProvisional(action)) link(action.objectIds)
  for (const { objectIds } of refundTotals) link(objectIds)
  return links
}

/**
 * The names with those of the same charge. A charge has one intent; an intent says which charge is meant only where one is
 * known: what happened to one charge of a payment says nothing of another.
 */
export function namesOfCharge(ids: readonly string[], links: LinkedNames): readonly string[] {
  let names = ids
  for (const id of ids) {
    const linked = links.get(id)
    if (linked?.size !== 1) continue
    const [partner] = linked as ReadonlySet<string>
    // Nearly every record of a flood has all its names already, and is asked with each event.
    if (!names.includes(partner as string)) names = [...names, partner as string]
  }
  return names
}

/** The record itself where it has these names already. */
function withNames(record: ActionRecord, links: LinkedNames): ActionRecord {
  const { sides, objectIds } = record
  const own =
    sides.length === 0 ? objectIds : sides.reduce<readonly string[]>((all, side) => withAll(all, side.objectIds), [])
  const names = namesOfCharge(own, links)
  const isSame = names.length === objectIds.length && names.every(name => objectIds.includes(name))
  return isSame ? record : { ...record, objectIds: names }
}
