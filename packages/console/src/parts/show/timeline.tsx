import type { ReactNode } from 'react'
import { Time } from './time.tsx'
import classes from './timeline.module.css'

export interface TimelineEntry {
  readonly key: string
  readonly at: string
  readonly text: ReactNode
  /** Who or what made the entry. */
  readonly by?: ReactNode
  /** Shown behind a disclosure, for example the raw document. */
  readonly details?: ReactNode
}

/** What happened, one line for each entry, in the order that is given. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  return (
    <ol className={classes.timeline}>
      {entries.map(({ key, at, text, by, details }) => (
        <li key={key} className={classes.entry}>
          <div className={classes.line}>
            <span className={classes.text} dir="auto">
              {text}
              {by !== undefined && <span className="dim"> · {by}</span>}
            </span>
            <span className="faint">
              <Time at={at} />
            </span>
          </div>
          {details !== undefined && (
            <details className={classes.details}>
              <summary>Details</summary>
              {details}
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}
