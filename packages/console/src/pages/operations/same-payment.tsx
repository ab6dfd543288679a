import type { ShownOperation } from '@backstop/client'
import { actionList } from '../../api/actions.ts'
import { useList } from '../../api/list.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { CopyId, Money, Time } from '../../parts/show/index.ts'
import { CustomerLink, nameOfCustomer } from '../customers/customer-link.tsx'

interface Props {
  operation: ShownOperation
}

/** Earlier refunds and cancellations of the same payment or subscription. An operation names no customer, so they say whose it is. */
function useSamePayment({ project_id, connection_id, subject }: ShownOperation) {
  const list = useList(actionList, { project_id, connection_id, subject })
  return { ...list, customer: list.items.find(({ customer }) => customer != null)?.customer }
}

/** The customer of an operation in a list, or the payment if nothing says whose it is. */
export function CustomerOf({ operation }: Props) {
  const customer = nameOfCustomer(useSamePayment(operation).customer)
  return customer === undefined ? <span className="mono dim">{operation.subject}</span> : <bdi>{customer}</bdi>
}

/** Whose payment or subscription an operation is about, and what was refunded or cancelled of it before. */
export function SamePayment({ operation }: Props) {
  const { customer, items, isLoading, error } = useSamePayment(operation)
  const { subject, kind, connection_id } = operation
  const noun = kind === 'refund' ? 'payment' : 'subscription'
  if (isLoading || error !== null) return null
  return (
    <>
      <p>
        {customer == null ? (
          <span className="dim">
            Nothing says whose {noun} it is: look for <CopyId id={subject} length={32} /> in the dashboard of the
            provider.
          </span>
        ) : (
          <>
            Customer: <CustomerLink customer={customer} connectionId={connection_id} />
          </>
        )}
      </p>
      {items.length === 0 && <p className="dim">It is the first change of this {noun} that Backstop sees.</p>}
      {items.length > 0 && (
        <p>
          Seen of this {noun} before:{' '}
          {items.slice(0, 5).map(({ action_id, kind, amount, currency, provider_created_at, first_seen_at }, at) => (
            <span key={action_id}>
              {at > 0 && ', '}
              <ProjectLink page="actions" id={action_id}>
                {kind} <Money amount={amount} currency={currency} />
              </ProjectLink>{' '}
              <Time at={provider_created_at ?? first_seen_at} />
            </span>
          ))}
        </p>
      )}
    </>
  )
}
