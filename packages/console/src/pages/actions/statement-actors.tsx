import type { Statement } from '../../api/actions.ts'
import { formatMoney } from '../../format/money.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { ActorLink } from '../actors/actor-link.tsx'
import { StatementHead } from './statement-table.tsx'
import classes from './statements.module.css'
import { KINDS } from './words.ts'

interface Props {
  statement: Statement
  /** The address of the same lines as CSV. */
  csvHref: string
}

/** Who made the refunds and cancellations of a statement, as far as the providers name somebody. A number links to its actions. */
export function StatementActors({ statement, csvHref }: Props) {
  // During an update a process of an earlier version may answer, which has no actors.
  const actors = statement.actors ?? []
  if (actors.length === 0) return null
  return (
    <section className={classes.currency}>
      <h2>By actor</h2>
      <table className={classes.table} aria-label="By actor">
        <StatementHead first="Actor" hasSum />
        <tbody>
          {actors.map(line => (
            <tr key={`${line.actor_id} ${line.kind} ${line.currency} ${line.mode}`}>
              <th scope="row">
                <ActorLink actor_id={line.actor_id} actor_name={line.actor_name ?? line.actor_id} />
              </th>
              <td className="dim">
                {KINDS.find(({ value }) => value === line.kind)?.label}
                {line.mode === 'test' && ' (test)'}
              </td>
              <td className={classes.number}>
                <ProjectLink page="actions" className="" search={searchOf(line, statement)}>
                  {line.count.toLocaleString('en')}
                </ProjectLink>
              </td>
              <td className={classes.number}>
                {line.currency === null ? '' : formatMoney(line.amount, line.currency)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {statement.actors_complete === false && (
        <p className="dim">These are the lines with the most actions. There are more.</p>
      )}
      <p className={classes.download}>
        <a className="link" href={csvHref} download>
          Download CSV by actor
        </a>
      </p>
    </section>
  )
}

/** The filters of the list that shows the actions of a line. */
function searchOf(line: Statement['actors'][number], { connection_id, from, to }: Statement) {
  const { actor_id, kind, currency, mode } = line
  return {
    ...{ actor_id, kind, made_from: from, made_to: to },
    ...(connection_id === null ? {} : { connection_id }),
    ...(currency === null ? {} : { currency }),
    ...(mode === null ? {} : { mode }),
  }
}
