import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type InstallationWork, installationQuery } from '../../api/system.ts'
import { formatDuration } from '../../format/times.ts'
import { Badge } from '../../parts/badges.tsx'
import { Problem } from '../../parts/problem.tsx'
import classes from './system.module.css'
import { faultsOf, type WorkRow } from './work-faults.ts'

/** The work of all services that waits, and whether the providers can be read. */
export function WaitingWork() {
  const { data, error, refetch } = useQuery(installationQuery)
  return (
    <section className={classes.section} aria-labelledby="work">
      <h2 id="work">Work that waits</h2>
      {data !== undefined ? (
        <Rows work={data} />
      ) : error === null ? (
        <Skeleton height={160} />
      ) : (
        <Problem error={error} retry={() => void refetch()} what="The work that waits could not be read" />
      )}
    </section>
  )
}

function Rows({ work }: { work: InstallationWork }) {
  const { verdicts, messages, deliveries, providers } = work
  const faults = faultsOf(work)
  const isLate = (row: WorkRow) => faults.has(row)
  const { key_rejected, unreadable, silent, sweep_age_seconds } = providers
  return (
    <ul className={classes.rows}>
      <Row title="Verdicts" isLate={isLate('verdicts')}>
        {describe(verdicts)}
        {verdicts.overdue > 0 && `; ${verdicts.overdue.toLocaleString()} overdue`}
      </Row>
      <Row title="Messages to Kafka" isLate={isLate('messages')}>
        {describe(messages)}
      </Row>
      <Row title="Deliveries" isLate={isLate('deliveries')}>
        {describe(deliveries.pending)}
      </Row>
      <Row title="Deliveries to repeat" isLate={isLate('retrying')}>
        {describe(deliveries.retrying)}
      </Row>
      <Row title="Reading the providers" isLate={isLate('providers')}>
        {unreadable + silent === 0
          ? sweep_age_seconds === 0
            ? 'No provider is read'
            : `Works; each was read in the last ${formatDuration(sweep_age_seconds * 1_000)}`
          : `${unreadable} cannot be read, ${key_rejected} of them refuse the key; ${silent} silent`}
      </Row>
    </ul>
  )
}

function Row({ title, isLate = false, children }: { title: string; isLate?: boolean; children: ReactNode }) {
  return (
    <li className={classes.row}>
      <span>{title}</span>
      <span className="dim">
        {isLate && <Badge tone="alarm">Late</Badge>} {children}
      </span>
    </li>
  )
}

function describe({ count, oldest_seconds }: InstallationWork['messages']): string {
  if (count === 0) return 'None waits'
  return `${count.toLocaleString()} ${count === 1 ? 'waits' : 'wait'}, the oldest for ${formatDuration(oldest_seconds * 1_000)}`
}
