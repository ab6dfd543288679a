import { type ActionRecord, isProvisional } from '../case/action-record.ts'
import { type Case, changeRecords, type EvictedRecord, withAll } from '../case/case.ts'

/**
 * The card processor has two ids for one payment, the charge and the payment intent, and an event may lack one of them.
 * An event that contains both may arrive later: of another refund, a total of the charge, or a dispute. An intent may
 * have several charges.
 */

/** For each name of a payment: the other names that an object contains together with it. */
export type LinkedNames = ReadonlyMap<string, ReadonlySet<string>>

/** Adds to every refund and dispute of a payment all names of its charge that are known now. */
export function addPaymentNames(theCase: Case): Case {
  const links = linkedNames(theCase)
  if (links.size === 0) return theCase
  return changeRecords(theCase, action => (isOfPayment(action) ? withPaymentNames(action, links) : action))
}

/**
 * Disputes contain the payment's names, too. A reversal is left out, because it also names its refund, which is not a
 * name of the payment.
 */
function isOfPayment(record: ActionRecord): boolean {
  return record.provider === 'processor' && namesPayment(record)
}

function namesPayment({ kind }: Pick<ActionRecord, 'kind'>): boolean {
  return kind === 'refund' || kind === 'dispute'
}

/**
 * The links in the processor's own objects. The names that were added to a record are not used, because they may be
 * wrong by now.
 */
export function linkedNames({ actions, evicted, refundTotals }: Case): LinkedNames {
  const links = new Map<string, Set<string>>()
  let last: readonly string[] = []
  const link = (ids: readonly string[]) => {
    // Shortcut: in a flood of events nearly all records have the same names.
    if (ids.length < 2 || (ids.length === last.length && ids.every((id, index) => id === last[index]))) return
    last = ids
    for (const id of ids) {
      const others = links.get(id) ?? new Set()
      for (const other of ids) if (other !== id) others.add(other)
      links.set(id, others)
    }
  }
  const linkSides = (record: ActionRecord | EvictedRecord) => {
    if (!namesPayment(record)) return
    for (const { provider, objectIds } of record.sides) if (provider === 'processor') link(objectIds)
  }
  actions.forEach(linkSides)
  evicted.forEach(linkSides)
  for (const action of actions) if (isProvisional(action)) link(action.objectIds)
  for (const { objectIds } of refundTotals) link(objectIds)
  return links
}

/**
 * Adds the names of the same charge. A charge has one intent. An intent with several charges does not tell which charge
 * is meant, so it adds no name.
 */
export function namesOfCharge(ids: readonly string[], links: LinkedNames): readonly string[] {
  let names = ids
  for (const id of ids) {
    const linked = links.get(id)
    if (linked?.size !== 1) continue
    const [partner] = linked as ReadonlySet<string>
    // Shortcut: in a flood of events nearly every record has all its names already.
    if (!names.includes(partner as string)) names = [...names, partner as string]
  }
  return names
}

/** Returns the same object if the record has these names already. */
function withPaymentNames(record: ActionRecord, links: LinkedNames): ActionRecord {
  const { sides, objectIds } = record
  const own =
    sides.length === 0 ? objectIds : sides.reduce<readonly string[]>((all, side) => withAll(all, side.objectIds), [])
  const names = namesOfCharge(own, links)
  const isSame = names.length === objectIds.length && names.every(name => objectIds.includes(name))
  return isSame ? record : { ...record, objectIds: names }
}
