import type { ActionRecord, SeenThrough } from '../case/action-record.ts'
import { type Case, changeRecords, type RefundTotal, withConnection } from '../case/case.ts'

/**
 * How far a refund's time may be after the time of the total that includes it, because providers give whole seconds.
 */
const CLOCK_STEP_MS = 2_000

/** The charge of a connection: its totals include every refund that was made until the last of them. */
interface ShownCharge extends Pick<RefundTotal, 'objectIds' | 'currency'> {
  readonly connection: SeenThrough
  readonly lastTotalAt: number
}

/**
 * Adds a connection that showed only the total of a charge to the refunds that the total includes, so that its setting
 * applies to them.
 */
export function addConnectionsOfTotals(theCase: Case): Case {
  if (theCase.refundTotals.length === 0) return theCase
  const charges = shownCharges(theCase.refundTotals)
  return changeRecords(theCase, action => withConnectionsOf(action, charges))
}

function shownCharges(totals: readonly RefundTotal[]): readonly ShownCharge[] {
  const charges = new Map<string, Map<string, ShownCharge>>()
  for (const { identity, objectIds, currency, observedAt, seenThrough } of totals) {
    const shown = charges.get(identity) ?? new Map<string, ShownCharge>()
    charges.set(identity, shown)
    for (const connection of seenThrough) {
      const lastTotalAt = Math.max(observedAt, shown.get(connection.id)?.lastTotalAt ?? -Infinity)
      shown.set(connection.id, { objectIds, currency, connection, lastTotalAt })
    }
  }
  return [...charges.values()].flatMap(shown => [...shown.values()])
}

function withConnectionsOf(action: ActionRecord, charges: readonly ShownCharge[]): ActionRecord {
  if (action.kind !== 'refund') return action
  const seenThrough = charges
    .filter(charge => includesRefund(charge, action))
    .reduce<ActionRecord['seenThrough']>((all, { connection }) => withConnection(all, connection), action.seenThrough)
  return seenThrough === action.seenThrough ? action : { ...action, seenThrough }
}

function includesRefund(charge: ShownCharge, { providerCreatedAt, objectIds, currency }: ActionRecord): boolean {
  return (
    providerCreatedAt <= charge.lastTotalAt + CLOCK_STEP_MS &&
    currency === charge.currency &&
    charge.objectIds.some(id => objectIds.includes(id))
  )
}
