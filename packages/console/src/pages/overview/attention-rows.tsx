import type { ListedIncident, Storm } from '../../api/incidents.ts'
import { shortenIds } from '../../format/ids.ts'
import { formatMoney } from '../../format/money.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { StateBadge, Time } from '../../parts/show/index.ts'
import { nameOfCustomer } from '../customers/customer-link.tsx'
import { codeWord, kindWord } from '../incidents/words.ts'
import { countOf, moneyText } from '../storms/storm-list.tsx'
import classes from './overview.module.css'

const MOST_ROWS = 8

interface Props {
  /** The newest of them. */
  incidents: readonly ListedIncident[]
  /** True if there are more. */
  hasMore: boolean
  storms: readonly Storm[]
}

/** Storms and incidents that nobody resolved yet. A storm is one row, not a row for each of its incidents. */
export function Attention({ incidents, hasMore, storms: all }: Props) {
  // A burst is a row of its own until the first action joins its storm.
  const storms = all.filter(storm => storm.state !== 'resolved' && countOf(storm) > 0)
  const inStorms = new Set(storms.map(({ storm_id }) => storm_id))
  const alone = incidents.filter(({ storm_id }) => storm_id == null || !inStorms.has(storm_id))
  if (storms.length === 0 && alone.length === 0) return null
  return (
    <section className={classes.section}>
      <h2>Unresolved incidents</h2>
      <ul className={classes.rows}>
        {storms.map(storm => (
          <li key={storm.storm_id}>
            <ProjectLink className="" page="storms" id={storm.storm_id}>
              <StateBadge state={storm.state} />
              <span className="cut">
                Storm of {countOf(storm)} unexplained actions
                {storm.money.length === 0 ? '' : `: ${moneyText(storm)}`}
              </span>
              <span className="dim">
                <Time at={storm.began_at} />
              </span>
            </ProjectLink>
          </li>
        ))}
        {alone.slice(0, MOST_ROWS).map(incident => (
          <li key={incident.incident_id}>
            <ProjectLink className="" page="incidents" id={incident.incident_id}>
              <StateBadge state={incident.state} />
              <span className="cut" dir="auto" title={incident.summary}>
                {lineOf(incident)}
              </span>
              <span className="dim">
                {incident.assignee != null && (
                  <>
                    <bdi className={classes.owner}>{incident.assignee}</bdi> ·{' '}
                  </>
                )}
                <Time at={incident.opened_at} />
              </span>
            </ProjectLink>
          </li>
        ))}
      </ul>
      {(hasMore || alone.length > MOST_ROWS) && (
        <p className={classes.more}>
          <ProjectLink page="incidents">All incidents</ProjectLink>
        </p>
      )}
    </section>
  )
}

/** What happened, how much and whose. */
function lineOf({ action, code, summary }: ListedIncident): string {
  if (action === null) return shortenIds(summary)
  const { amount, currency, customer, subject } = action
  const what = code === 'UNEXPECTED_ACTION' ? kindWord(action) : `${codeWord(code)}: ${kindWord(action).toLowerCase()}`
  const money = amount === null || currency === null ? '' : ` of ${formatMoney(amount, currency)}`
  return `${what}${money} · ${nameOfCustomer(customer) ?? shortenIds(subject)}`
}

/** One line if operations wait for an approval, otherwise nothing. */
export function WaitingApprovals({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <p>
      <ProjectLink page="approvals">
        {count.toLocaleString('en')} {count === 1 ? 'operation waits' : 'operations wait'} for approval
      </ProjectLink>
    </p>
  )
}
