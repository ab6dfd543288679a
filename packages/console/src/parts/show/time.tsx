import { useSyncExternalStore } from 'react'
import { formatExactTime, formatTime } from '../../format/times.ts'
import classes from './time.module.css'

const listeners = new Set<() => void>()
let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** The present time, which changes every 15 s, from one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(
    listener => {
      listeners.add(listener)
      timer ??= setInterval(() => {
        nowMs = Date.now()
        for (const each of listeners) each()
      }, 15_000)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    () => nowMs,
  )
}

/** A time in the zone of the reader: relative within a day on the screen, exact on hover and on paper. */
export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow()
  if (at === null || at === undefined) return <span className="faint">–</span>
  const atMs = Date.parse(at)
  return (
    <time dateTime={at} title={formatExactTime(atMs)} className={classes.time}>
      <span>{formatTime(atMs, Math.max(now, Date.now() - 15_000))}</span>
    </time>
  )
}
