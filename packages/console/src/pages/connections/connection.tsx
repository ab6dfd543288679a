import type { Connection } from '@backstop/client'
import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { connectionQuery, lastEventQuery } from '../../api/connections.ts'
import { useFilters } from '../../parts/filters/index.ts'
import { PageHead, ProjectLink, ThingPage, useProjectId, useResourceId } from '../../parts/page/index.ts'
import classes from './connections.module.css'
import { Health } from './health.tsx'
import { Inbox } from './inbox.tsx'
import { InboxEvent } from './inbox-event.tsx'
import { Secrets } from './secrets.tsx'
import { Setup } from './setup/setup.tsx'
import { PROVIDERS } from './words.ts'

const ABOVE = ['connections', 'Connections'] as const
const TABS = [
  { value: 'health', label: 'Health' },
  { value: 'inbox', label: 'Inbox' },
  { value: 'secrets', label: 'Secrets and reading' },
  { value: 'setup', label: 'Setup' },
] as const
type Tab = (typeof TABS)[number]['value']
const FILTERS = { tab: z.enum(TABS.map(({ value }) => value)), event: z.string() }

export function Page() {
  const query = useQuery(connectionQuery(useProjectId(), useResourceId()))
  const loading = (
    <Stack gap="lg" maw={832}>
      <Skeleton height={20} width="40%" />
      <Skeleton height={140} />
      <Skeleton height={140} />
    </Stack>
  )
  return (
    <ThingPage kind="Connection" above={ABOVE} query={query} loading={loading}>
      {connection => <ConnectionPage connection={connection} />}
    </ThingPage>
  )
}

function ConnectionPage({ connection }: { connection: Connection }) {
  const [{ tab = 'health', event }] = useFilters(FILTERS)
  return (
    <>
      <PageHead title={connection.name} above={ABOVE} about={PROVIDERS[connection.kind]} />
      <nav className={classes.tabs} aria-label="Parts of the connection">
        {TABS.map(({ value, label }) => (
          <ProjectLink
            key={value}
            className=""
            page="connections"
            id={connection.connection_id}
            search={{ tab: value }}
            aria-current={value === tab ? 'page' : undefined}
          >
            {label}
          </ProjectLink>
        ))}
      </nav>
      <Notices connection={connection} tab={tab} />
      {tab === 'health' && <Health connection={connection} />}
      {tab === 'secrets' && <Secrets connection={connection} />}
      {tab === 'setup' && <Setup connection={connection} />}
      {tab === 'inbox' &&
        (event === undefined ? <Inbox connection={connection} /> : <InboxEvent connection={connection} id={event} />)}
    </>
  )
}

/** Says what is missing, and leads to it. Silent when nothing is. */
function Notices({ connection, tab }: { connection: Connection; tab: Tab }) {
  const { connection_id, status, warnings } = connection
  const { data: lastEvent } = useQuery(lastEventQuery(connection_id))
  const isIncomplete = status === 'needs_setup' || lastEvent === null
  if (tab === 'setup' || (!isIncomplete && warnings.length === 0)) return null
  return (
    <div className={classes.body}>
      <div className="notice">
        {isIncomplete && (
          <p>
            {status === 'needs_setup' ? 'The setup is incomplete.' : 'No event has arrived yet.'}{' '}
            <ProjectLink page="connections" id={connection_id} search={{ tab: 'setup' }}>
              Finish the setup
            </ProjectLink>
          </p>
        )}
        {warnings.map(({ field, message }) => (
          <p key={field}>{message}</p>
        ))}
      </div>
    </div>
  )
}
