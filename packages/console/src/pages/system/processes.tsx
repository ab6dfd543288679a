import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Processes as List, processesQuery } from '../../api/system.ts'
import { Badge } from '../../parts/badges.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './system.module.css'

type Process = List[number]

const STATES = {
  ready: ['good', 'Ready'],
  not_ready: ['alarm', 'Not ready'],
  silent: ['alarm', 'Silent'],
  replaced: ['quiet', 'Replaced'],
} as const satisfies Record<Process['state'], readonly [string, string]>

/** The processes of all services, as they reported themselves. */
export function Processes() {
  const { data, error, refetch } = useQuery(processesQuery)
  return (
    <section className={classes.section} aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      {data !== undefined ? (
        <ul className={classes.rows}>
          {data.map(process => (
            <Row key={process.process_id} process={process} />
          ))}
        </ul>
      ) : error === null ? (
        <Skeleton height={160} />
      ) : (
        <Problem error={error} retry={() => void refetch()} what="The processes could not be read" />
      )}
    </section>
  )
}

function Row({
  process: { process_id, service, version, state, started_at, reported_at, unready },
}: {
  process: Process
}) {
  const [tone, word] = STATES[state]
  const isAlive = state === 'ready' || state === 'not_ready'
  return (
    <li className={`${classes.row} ${classes.process}`}>
      <div>
        {service} <span className="mono dim">{process_id}</span>
        {state === 'not_ready' && <p>{unready}</p>}
        <p className="dim">
          {version}, {isAlive ? 'started' : 'reported last'} <Time at={isAlive ? started_at : reported_at} />
        </p>
      </div>
      <Badge tone={tone}>{word}</Badge>
    </li>
  )
}
