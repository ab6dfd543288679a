import type { Action } from '@backstop/client'
import { Link } from '@tanstack/react-router'
import { CopyId } from '../../parts/copy-id.tsx'
import sheet from '../../parts/sheet.module.css'
import { Time } from '../../parts/time.tsx'
import classes from './action.module.css'
import { FAILURES, REASONS } from './words.ts'

const QUESTIONS: Record<Action['verdict'], string> = {
  unexplained: 'Why this was alerted',
  pending: 'Why this is not decided yet',
  explained: 'Why this was not alerted',
  not_alerted: 'Why this was not alerted',
}

/** The answer that people come for: why the action was alerted, or why it was not. */
export function Why({ action }: { action: Action }) {
  const { verdict, reason, why, project_id, connection_id, operation_id, incident_id, second_look_at } = action
  const isAboutSetting = reason === 'out_of_band_ignore' || reason === 'auto_before_first_operation'
  return (
    <section className={classes.why} data-verdict={verdict} aria-labelledby="why">
      <h2 id="why">{QUESTIONS[verdict]}</h2>
      <p>{REASONS[reason].sentence}</p>
      {why?.closest !== undefined && verdict === 'unexplained' && <p dir="auto">{why.closest.text}</p>}
      {operation_id !== null && (
        <p>
          Explained by{' '}
          <Link to="/p/$project/operations/$id" params={{ project: project_id, id: operation_id }}>
            the operation of your software
          </Link>{' '}
          <CopyId id={operation_id} />
        </p>
      )}
      {why !== undefined && reason === 'expected_change_matches' && (
        <p>
          <span dir="auto">{why.rule}</span>.{' '}
          <Link to="/p/$project/expected-changes" params={{ project: project_id }}>
            See the expected changes
          </Link>
        </p>
      )}
      {verdict === 'pending' && second_look_at !== null && (
        <p>
          Second look: <Time at={second_look_at} />
        </p>
      )}
      {incident_id !== null && (
        <p>
          <Link to="/p/$project/incidents/$id" params={{ project: project_id, id: incident_id }}>
            {verdict === 'unexplained' ? 'Open the incident' : 'It was alerted before: open the incident'}
          </Link>
        </p>
      )}
      {isAboutSetting && (
        <p>
          <Link to="/p/$project/connections/$id" params={{ project: project_id, id: connection_id }}>
            See or change the setting of the connection
          </Link>
        </p>
      )}
      <ReadBack action={action} />
    </section>
  )
}

function ReadBack({ action: { why } }: { action: Action }) {
  switch (why?.read_back) {
    case 'confirmed':
      return <p className="dim">The provider was asked, and has it.</p>
    case 'not_found':
      return <p className="dim">The provider was asked, and does not have it.</p>
    case 'unavailable':
      return <p className="dim">The provider was asked, and did not answer in time.</p>
    default:
      return null
  }
}

/** The operations that came near, each with the one fact that failed. */
export function Candidates({ action: { why, project_id } }: { action: Action }) {
  if (why === undefined || why.candidates.length === 0) return null
  return (
    <section className={sheet.part}>
      <h2>Operations that do not explain it</h2>
      <ul className={sheet.lines}>
        {why.candidates.map(({ operation_id, failure, text }) => (
          <li key={operation_id}>
            <div className={classes.lineTop}>
              <Link className="link" to="/p/$project/operations/$id" params={{ project: project_id, id: operation_id }}>
                {FAILURES[failure]}
              </Link>
              <CopyId id={operation_id} />
            </div>
            <p className="dim" dir="auto">
              {text}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

const DIFFERENT_FIELDS = {
  amount: 'Amount',
  currency: 'Currency',
  subject: 'Payment',
  state: 'State',
  existence: 'Existence',
} as const

/** What the provider shows differently from the report of the software. */
export function Differences({ action: { differences } }: { action: Action }) {
  if (differences === undefined || differences.length === 0) return null
  return (
    <section className={sheet.part}>
      <h2>The provider shows something else than your software reported</h2>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Your software</th>
            <th scope="col">Provider</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, operation_says, provider_says }) => (
            <tr key={field}>
              <td className="dim">{DIFFERENT_FIELDS[field]}</td>
              <td dir="auto">{operation_says}</td>
              <td dir="auto">{provider_says}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
