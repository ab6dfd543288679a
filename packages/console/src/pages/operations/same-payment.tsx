import type { ShownOperation } from '@backstop/client'
import { actionList } from '../../api/actions.ts'
import { useList } from '../../api/list.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { CopyId, Money, Time } from '../../parts/show/index.ts'

/** Whose payment or subscription an operation is about, as far as earlier refunds and cancellations say it, and what these were. */
export function SamePayment({ operation: { project_id, subject, kind } }: { operation: ShownOperation }) {
  const { items, isLoading, error } = useList(actionList, { project_id, subject })
  const noun = kind === 'refund' ? 'payment' : 'subscription'
  if (isLoading || error !== null) return null
  const { name, email, id } = items.find(({ customer }) => customer != null)?.customer ?? {}
  const customer = name ?? email ?? id
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
            Customer: <bdi>{customer}</bdi>
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
