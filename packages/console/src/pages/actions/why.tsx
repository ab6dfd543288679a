import type { Action } from '@backstop/client'
import { Group } from '@mantine/core'
import { localizeTimes } from '../../format/times.ts'
import { Part, ProjectLink } from '../../parts/page/index.ts'
import { CopyId, Time } from '../../parts/show/index.ts'
import classes from './why.module.css'
import { FAILURES, REASONS } from './words.ts'

const QUESTIONS: Record<Action['verdict'], string> = {
  unexplained: 'Why this was alerted',
  pending: 'Why this is not decided yet',
  explained: 'Why this was not alerted',
  not_alerted: 'Why this was not alerted',
}

/** What the provider answered when it was asked. */
const READ_BACK = {
  confirmed: 'The provider was asked, and has it.',
  not_found: 'The provider was asked, and does not have it.',
  unavailable: 'The provider was asked, and did not answer in time.',
} as const

/** The answer that people come for: why the action was alerted, or why it was not. */
export function Why({ action }: { action: Action }) {
  const { verdict, reason, why, connection_id, operation_id, incident_id, second_look_at, provider_created_at } = action
  const isAboutSetting = reason === 'out_of_band_ignore' || reason === 'auto_before_first_operation'
  const readBack = READ_BACK[why?.read_back as keyof typeof READ_BACK]
  return (
    <section className={classes.why} data-verdict={verdict} aria-labelledby="why">
      <h2 id="why">{QUESTIONS[verdict]}</h2>
      <p>{REASONS[reason].sentence}</p>
      {why?.closest !== undefined && verdict === 'unexplained' && (
        <p dir="auto">{localizeTimes(why.closest.text, provider_created_at)}</p>
      )}
      {operation_id !== null && (
        <p>
          Explained by{' '}
          <ProjectLink page="operations" id={operation_id}>
            the operation of your software
          </ProjectLink>{' '}
          <CopyId id={operation_id} />
        </p>
      )}
      {why !== undefined && reason === 'expected_change_matches' && (
        <p>
          <span dir="auto">{localizeTimes(why.rule, provider_created_at)}</span>.{' '}
          <ProjectLink page="expected-changes">See the expected changes</ProjectLink>
        </p>
      )}
      {verdict === 'pending' && second_look_at !== null && (
        <p>
          Second look: <Time at={second_look_at} />
        </p>
      )}
      {incident_id !== null && (
        <p>
          <ProjectLink page="incidents" id={incident_id}>
            {verdict === 'unexplained' ? 'Open the incident' : 'It was alerted before: open the incident'}
          </ProjectLink>
        </p>
      )}
      {isAboutSetting && (
        <p>
          <ProjectLink page="connections" id={connection_id}>
            See or change the setting of the connection
          </ProjectLink>
        </p>
      )}
      {readBack !== undefined && <p className="dim">{readBack}</p>}
    </section>
  )
}

/** The operations that came near, each with the one fact that failed. */
export function Candidates({ action: { why, provider_created_at } }: { action: Action }) {
  if (why === undefined || why.candidates.length === 0) return null
  return (
    <Part title="Operations that do not explain it">
      <ul className="lines">
        {why.candidates.map(({ operation_id, failure, text }) => (
          <li key={operation_id}>
            <Group justify="space-between" gap="4px 16px">
              <ProjectLink page="operations" id={operation_id}>
                {FAILURES[failure]}
              </ProjectLink>
              <CopyId id={operation_id} />
            </Group>
            <p className="dim" dir="auto">
              {localizeTimes(text, provider_created_at)}
            </p>
          </li>
        ))}
      </ul>
    </Part>
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
export function Differences({ action: { differences = [] } }: { action: Action }) {
  if (differences.length === 0) return null
  return (
    <Part title="The provider shows something else than your software reported">
      <table className="table">
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
    </Part>
  )
}
