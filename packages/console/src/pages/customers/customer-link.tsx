import type { Action } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { statsOfQuery } from '../../api/actions.ts'
import { ProjectLink } from '../../parts/page/index.ts'

interface Props {
  customer: NonNullable<Action['customer']>
  connectionId: string
  /** The words of the link; by default the name of the customer. */
  children?: ReactNode
}

/** What the provider says of a customer: the name, or else the e-mail address or the id; undefined if it says nothing. */
export function nameOfCustomer(customer: Action['customer']): string | undefined {
  return [customer?.name, customer?.email, customer?.id].find(text => text != null && text !== '') ?? undefined
}

/** A customer by its name, which leads to its page, or only the name if the provider gives no id. */
export function CustomerLink({ customer, connectionId, children }: Props) {
  const { id } = customer
  const words = children ?? <bdi>{nameOfCustomer(customer)}</bdi>
  if (!isPublicId(id)) return words
  return (
    <ProjectLink page="customers" id={id} search={{ connection_id: connectionId }}>
      {words}
    </ProjectLink>
  )
}

/** Some accounts use e-mail addresses as ids. Those are erased, and must be in no address of a page or a call. */
function isPublicId(id: string | null): id is string {
  return id !== null && !id.includes('@')
}

const DAYS = 30
const DAY_MS = 24 * 60 * 60_000

/** How many other refunds and cancellations of the customer there were in the 30 days before an action, and on its day. */
export function OthersOfCustomer({ action, customer }: { action: Action; customer: Props['customer'] }) {
  const { project_id, connection_id, provider_created_at: to } = action
  const of = { customer_id: customer.id ?? '', connection_id }
  const from = new Date(Date.parse(to) - DAYS * DAY_MS).toISOString()
  const query = statsOfQuery(project_id, of, { from, to: new Date(Date.parse(to) + 1).toISOString() })
  const { data } = useQuery({ ...query, enabled: isPublicId(customer.id) })
  if (data === undefined) return null
  const all = data.totals.filter(isCounted).reduce((sum, { count }) => sum + count, 0)
  const others = Math.max(0, all - (isCounted(action) ? 1 : 0))
  return (
    // WCAG 2.2: a link below the button of the id has 24 px of its own.
    <div style={{ marginTop: 4, lineHeight: '24px' }}>
      {others === 0 ? (
        <span className="dim">No other of this customer in {DAYS} days</span>
      ) : (
        <CustomerLink customer={customer} connectionId={connection_id}>
          {others.toLocaleString('en')} {others === 1 ? 'other' : 'others'} of this customer in {DAYS} days
        </CustomerLink>
      )}
    </div>
  )
}

function isCounted({ kind }: Pick<Action, 'kind'>): boolean {
  return kind === 'refund' || kind === 'cancellation'
}
