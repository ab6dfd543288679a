import { useQuery } from '@tanstack/react-query'
import { type Processes as List, processesQuery } from '../../api/system.ts'
import { Section } from '../../parts/list/index.ts'
import { Read } from '../../parts/page/index.ts'
import { Badge, SkeletonLines, Time } from '../../parts/show/index.ts'
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
  return (
    <Section title="Processes" label="Processes">
      <Read
        query={useQuery(processesQuery)}
        what="The processes could not be read"
        loading={<SkeletonLines count={4} />}
      >
        {processes => (
          <ul className={classes.rows}>
            {processes.map(process => (
              <Row key={process.process_id} {...process} />
            ))}
          </ul>
        )}
      </Read>
    </Section>
  )
}

function Row({ process_id, service, version, state, started_at, reported_at, unready }: Process) {
  const [tone, word] = STATES[state]
  const isAlive = state === 'ready' || state === 'not_ready'
  return (
    <li className={classes.process}>
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
