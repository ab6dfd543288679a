import type { ExpectedChange } from '../../api/operations.ts'
import { shortenId } from '../../format/ids.ts'
import { formatMoney } from '../../format/money.ts'
import { Badge, useNow } from '../../parts/show/index.ts'

/** Whether the expected change still covers anything. */
export function ExpectedChangeBadge({ change }: { change: ExpectedChange }) {
  const now = useNow()
  const { deleted_at, expires_at, starts_at, changes_covered, max_changes, interval } = change
  if (deleted_at !== null) return <Badge tone="quiet">Ended</Badge>
  if (Date.parse(expires_at) <= now) return <Badge tone="quiet">Expired</Badge>
  if (changes_covered >= max_changes) {
    return <Badge tone="quiet">{interval === null ? 'Used up' : `Used up ${EACH[interval]}`}</Badge>
  }
  if (starts_at !== null && Date.parse(starts_at) > now) return <Badge tone="waits">Begins later</Badge>
  return <Badge tone="good">Active</Badge>
}

const EACH = { day: 'today', week: 'this week', month: 'this month' } as const

/** What it covers: `Refunds of EUR 5.00 on pi_3…, of customer cus_9, Shop Germany`. */
export function describeCovered(change: ExpectedChange, names: ReadonlyMap<string, string>): string {
  const { kind, subject, amount, currency, connection_id, customer_id, actor_id } = change
  const what = kind === 'refund' ? 'Refunds' : 'Cancellations'
  const of = amount !== null && currency !== null ? ` of ${formatMoney(amount, currency)}` : ''
  const on = subject === null ? '' : ` on ${shortenId(subject, 20)}`
  const by = actor_id === null ? '' : ` by ${shortenId(actor_id, 20)}`
  const whose = customer_id === null ? '' : `, of customer ${shortenId(customer_id, 20)}`
  const where = connection_id === null ? '' : `, ${names.get(connection_id) ?? shortenId(connection_id)}`
  return `${what}${of}${on}${by}${whose}${where}`
}

/** How much of it is used: `2 of 20, EUR 40.00 of EUR 500.00 this week`. */
export function describeUse(change: ExpectedChange) {
  const { changes_covered, max_changes, amount_covered, max_amount, currency, interval } = change
  const count = `${changes_covered} of ${max_changes}`
  const money =
    max_amount === null || currency === null
      ? ''
      : `, ${formatMoney(amount_covered ?? 0, currency)} of ${formatMoney(max_amount, currency)}`
  return `${count}${money}${interval === null ? '' : ` ${EACH[interval]}`}`
}
