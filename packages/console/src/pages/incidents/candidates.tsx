import type { Action, ShownOperation } from '@backstop/client'
import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { operationQuery } from '../../api/operations.ts'
import { shortenId } from '../../format/ids.ts'
import { localizeTimes } from '../../format/times.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { CopyId, Money, Time } from '../../parts/show/index.ts'
import { nameOperation } from '../operations/words.ts'
import classes from './candidates.module.css'
import { PROVIDERS } from './words.ts'

type Candidate = NonNullable<Action['why']>['candidates'][number]
interface Comparison {
  /** The fact that failed. */
  readonly fact: string
  readonly operation: ReactNode
  readonly action: ReactNode
}

/** The operations nearest to an action that nothing explains, each with the fact that failed and its two values. */
export function Candidates({ action }: { action: Action }) {
  const { candidates = [], closest } = action.why ?? {}
  const operations = useQueries({
    queries: candidates.map(({ operation_id }) => operationQuery(operation_id)),
  })
  if (candidates.length === 0) {
    return (
      <p className="dim">
        Your software reported no operation on this {action.kind === 'refund' ? 'payment' : 'subscription'}.
      </p>
    )
  }
  return (
    <>
      {closest !== undefined && <p dir="auto">{localizeTimes(closest.text, action.provider_created_at)}.</p>}
      <table className={`table ${classes.table}`}>
        <thead>
          <tr>
            <th>Operation</th>
            <th>What does not fit</th>
            <th>Your software said</th>
            <th>The provider shows</th>
          </tr>
        </thead>
        <tbody>
          {candidates.map((candidate, at) => (
            <Row key={candidate.operation_id} action={action} candidate={candidate} operation={operations[at]?.data} />
          ))}
        </tbody>
      </table>
    </>
  )
}

interface RowProps {
  action: Action
  candidate: Candidate
  operation: ShownOperation | undefined
}

function Row({ action, candidate, operation }: RowProps) {
  const comparison = operation === undefined ? undefined : COMPARISONS[candidate.failure](operation, action)
  return (
    <tr>
      <td data-label="Operation">
        <ProjectLink
          className={operation === undefined ? 'link mono' : 'link'}
          page="operations"
          id={candidate.operation_id}
          title={candidate.operation_id}
        >
          {operation === undefined ? shortenId(candidate.operation_id) : nameOperation(operation)}
        </ProjectLink>
      </td>
      {comparison === undefined ? (
        <td data-label="Reason" colSpan={3}>
          <span className={classes.reason} dir="auto">
            {localizeTimes(candidate.text, action.provider_created_at)}
          </span>
        </td>
      ) : (
        <>
          <td data-label="Differs">{comparison.fact}</td>
          <td data-label="You said">{comparison.operation}</td>
          <td data-label="Provider">{comparison.action}</td>
        </>
      )}
    </tr>
  )
}

const id = (value: string | null) => (value === null ? <span className="faint">none</span> : <CopyId id={value} />)
const words = (code: string) => code.replaceAll('_', ' ')
/** The reason is no difference of two values, so its sentence is shown instead. */
const sentence = () => undefined

const COMPARISONS: Record<Candidate['failure'], (operation: ShownOperation, action: Action) => Comparison | undefined> =
  {
    operation_did_not_act: ({ state }, { state: actual }) => ({
      fact: 'State',
      operation: words(state),
      action: words(actual),
    }),
    operation_skipped_approval: sentence,
    other_kind: (operation, action) =>
      operation.kind === action.kind
        ? { fact: 'Provider', operation: PROVIDERS[operation.provider], action: PROVIDERS[action.provider] }
        : { fact: 'Kind', operation: operation.kind, action: words(action.kind) },
    other_provider_ref: (operation, action) => ({
      fact: 'Object of the provider',
      operation: id(operation.provider_ref),
      action: id(action.provider_ref),
    }),
    other_subject: (operation, action) => ({
      fact: action.kind === 'refund' ? 'Payment' : 'Subscription',
      operation: id(operation.subject),
      action: id(action.subject),
    }),
    other_amount: (operation, action) => ({
      fact: 'Amount',
      operation: <Money amount={operation.amount} currency={operation.currency ?? action.currency} />,
      action: <Money amount={action.amount} currency={action.currency} />,
    }),
    outside_time_window: ({ executing_at, ended_at }, { provider_created_at }) => ({
      fact: 'Time',
      operation: (
        <>
          <Time at={executing_at} />
          {ended_at !== null && (
            <>
              {' '}
              to <Time at={ended_at} />
            </>
          )}
        </>
      ),
      action: <Time at={provider_created_at} />,
    }),
    explains_another: sentence,
    other_operation_fits_better: sentence,
    awaits_its_own: sentence,
  }
