import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type InstallationWork, installationQuery } from '../../api/system.ts'
import { formatDuration } from '../../format/times.ts'
import { Section } from '../../parts/list/index.ts'
import { Read } from '../../parts/page/index.ts'
import { Badge, SkeletonLines } from '../../parts/show/index.ts'
import classes from './system.module.css'
import { faultsOf, type WorkRow } from './work-faults.ts'

/** The work of all services that waits, and whether the providers can be read. */
export function WaitingWork() {
  return (
    <Section title="Work that waits" label="Work that waits">
      <Read
        query={useQuery(installationQuery)}
        what="The work that waits could not be read"
        loading={<SkeletonLines count={4} />}
      >
        {work => <Rows work={work} />}
      </Read>
    </Section>
  )
}

function Rows({ work }: { work: InstallationWork }) {
  const { verdicts, messages, deliveries, providers } = work
  const faults = faultsOf(work)
  const { key_rejected, unreadable, silent, sweep_age_seconds } = providers
  const overdue = verdicts.overdue > 0 ? `; ${verdicts.overdue.toLocaleString('en')} overdue` : ''
  const reading =
    sweep_age_seconds === 0
      ? 'No provider is read'
      : `Works; each was read in the last ${formatDuration(sweep_age_seconds * 1_000)}`
  const unread = `${unreadable} cannot be read, ${key_rejected} of them refuse the key; ${silent} silent`
  const rows: [WorkRow, string, ReactNode][] = [
    ['verdicts', 'Verdicts', describe(verdicts) + overdue],
    ['messages', 'Messages to Kafka', describe(messages)],
    ['deliveries', 'Deliveries', describe(deliveries.pending)],
    ['retrying', 'Deliveries to repeat', describe(deliveries.retrying)],
    ['providers', 'Reading the providers', unreadable + silent === 0 ? reading : unread],
  ]
  return (
    <ul className={classes.rows}>
      {rows.map(([row, title, text]) => (
        <li key={row}>
          <span>{title}</span>
          <span className="dim">
            {faults.has(row) && <Badge tone="alarm">Late</Badge>} {text}
          </span>
        </li>
      ))}
    </ul>
  )
}

function describe({ count, oldest_seconds }: InstallationWork['messages']): string {
  if (count === 0) return 'None waits'
  return `${count.toLocaleString('en')} ${count === 1 ? 'waits' : 'wait'}, the oldest for ${formatDuration(oldest_seconds * 1_000)}`
}
