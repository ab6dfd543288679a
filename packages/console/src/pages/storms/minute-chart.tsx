import { formatClock } from '../../format/times.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import classes from './storm.module.css'
import { type Bar, searchOfBar } from './storm-summary.ts'

/** In pixels, with the space to the next. It has room for the two times of the axis below two bars. */
const WIDEST_BAR = 64

/** The actions of a storm by the minute in which they were made. A bar opens their list. */
export function MinuteChart({ bars, connectionId }: { bars: readonly Bar[]; connectionId: string }) {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  const [first, last] = [bars[0], bars.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <>
      {/* As wide as its bars, so that the times of the axis are below the edges of the first and the last one. */}
      <div className={classes.frame} style={{ width: `min(100%, ${bars.length * WIDEST_BAR}px)` }}>
        <div className={classes.chart}>
          {bars.map(bar => {
            const { fromMs, count } = bar
            const words = `${count} at ${formatClock(fromMs)}`
            const height = `${Math.max(count === 0 ? 0 : 3, (count / most) * 100)}%`
            return (
              <ProjectLink
                key={fromMs}
                className={classes.slot}
                page="actions"
                search={{ connection_id: connectionId, ...searchOfBar(bar) }}
                title={words}
                aria-label={words}
              >
                <span className={classes.bar} style={{ height }} />
              </ProjectLink>
            )
          })}
        </div>
        <div className={classes.axis}>
          <span>{formatClock(first.fromMs)}</span>
          <span>{formatClock(last.toMs)}</span>
        </div>
      </div>
      <p className={classes.most}>At most {most.toLocaleString('en')} in one bar</p>
    </>
  )
}
