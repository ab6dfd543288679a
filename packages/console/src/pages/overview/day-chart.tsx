import type { Stats } from '../../api/actions.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import classes from './overview.module.css'

const DAY_MS = 24 * 60 * 60_000
/** From top to bottom. */
const VERDICTS = ['unexplained', 'pending', 'not_alerted', 'explained'] as const
const WORDS: Record<(typeof VERDICTS)[number], string> = {
  unexplained: 'Unexplained',
  pending: 'Pending',
  not_alerted: 'Not alerted',
  explained: 'Explained',
}

interface Day {
  readonly at: string
  readonly next: string
  readonly counts: Record<(typeof VERDICTS)[number], number>
  readonly total: number
}

export function daysOf({ series }: Pick<Stats, 'series'>, days: number, nowMs: number): Day[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, at) => today - (days - 1 - at) * DAY_MS).map(atMs => {
    const at = new Date(atMs).toISOString()
    const counts = { unexplained: 0, pending: 0, not_alerted: 0, explained: 0 }
    for (const entry of series) if (Date.parse(entry.at) === atMs) counts[entry.verdict] += entry.count
    const total = VERDICTS.reduce((sum, verdict) => sum + counts[verdict], 0)
    return { at, next: new Date(atMs + DAY_MS).toISOString(), counts, total }
  })
}

const dayName = (at: string) =>
  new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(Date.parse(at))

/** The verdicts of each day as a stacked bar. A bar opens the list of its day. */
export function DayChart({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ total }) => total))
  const [first, last] = [days[0], days.at(-1)]
  return (
    <div>
      <div className={classes.chart}>
        {days.map(({ at, next, counts }) => {
          const parts = VERDICTS.filter(verdict => counts[verdict] > 0)
          const words = parts.map(verdict => `${counts[verdict]} ${WORDS[verdict].toLowerCase()}`).join(', ')
          const label = `${dayName(at)}: ${words === '' ? 'none' : words}`
          return (
            <ProjectLink
              key={at}
              className={classes.day}
              page="actions"
              search={{ made_from: at, made_to: next }}
              title={label}
              aria-label={label}
            >
              {parts.map(verdict => (
                <span
                  key={verdict}
                  className={classes.part}
                  data-verdict={verdict}
                  style={{ height: `max(2px, ${(counts[verdict] / most) * 100}%)` }}
                />
              ))}
            </ProjectLink>
          )
        })}
      </div>
      <div className={classes.axis}>
        <span>{first === undefined ? '' : dayName(first.at)}</span>
        <span>most on one day: {most.toLocaleString('en')} · days are in UTC</span>
        <span>{last === undefined ? '' : dayName(last.at)}</span>
      </div>
      <div className={classes.keys}>
        {VERDICTS.map(verdict => (
          <ProjectLink
            key={verdict}
            className={classes.key}
            data-verdict={verdict}
            page="actions"
            search={{ verdict, made_from: first?.at, made_to: last?.next }}
          >
            {WORDS[verdict]} {days.reduce((sum, { counts }) => sum + counts[verdict], 0).toLocaleString('en')}
          </ProjectLink>
        ))}
      </div>
    </div>
  )
}
