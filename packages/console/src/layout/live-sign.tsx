import { useLiveState } from '../api/live.ts'
import { formatClock } from '../format/times.ts'
import classes from './live-sign.module.css'

const WORDS = { connecting: 'Connecting…', live: 'Live updates', lost: 'No live updates' }

/** Whether the page receives changes as they happen, and since when not. */
export function LiveSign() {
  const live = useLiveState()
  if (live.kind === 'off') return null
  return (
    <p className={classes.sign} data-kind={live.kind} role="status">
      <span className={classes.dot} aria-hidden />
      <span>
        {WORDS[live.kind]}
        {live.kind === 'lost' && <span className={classes.since}> since {formatClock(live.sinceMs)}</span>}
      </span>
    </p>
  )
}
