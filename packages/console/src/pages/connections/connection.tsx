import type { Connection } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { connectionQuery } from '../../api/connections.ts'
import { lastEventQuery } from '../../api/inbox.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import classes from './connections.module.css'
import { Health } from './health.tsx'
import { Inbox } from './inbox.tsx'
import { InboxEvent } from './inbox-event.tsx'
import { Secrets } from './secrets.tsx'
import { Setup } from './setup.tsx'
import { PROVIDERS } from './words.ts'

const TABS = [
  { value: 'health', label: 'Health' },
  { value: 'inbox', label: 'Inbox' },
  { value: 'secrets', label: 'Secrets and reading' },
  { value: 'setup', label: 'Setup' },
] as const
type Tab = (typeof TABS)[number]['value']
const FILTERS = { tab: z.enum(TABS.map(({ value }) => value)), event: z.string() }

export function Page() {
  const project_id = useProjectId()
  const id = useResourceId()
  const [{ tab = 'health', event }] = useFilters(FILTERS)
  const { data: connection, error, refetch } = useQuery(connectionQuery(project_id, id))
  const above = (
    <Link to="/p/$project/connections" params={{ project: project_id }}>
      Connections
    </Link>
  )
  if (connection === undefined) {
    return (
      <>
        <PageHead title="Connection" above={above} />
        {error === null ? (
          <Loading />
        ) : (
          <Problem error={error} retry={() => void refetch()} what="The connection could not be read" />
        )}
      </>
    )
  }
  return (
    <>
      <PageHead title={connection.name} above={above}>
        <p className="dim">{PROVIDERS[connection.kind]}</p>
      </PageHead>
      <Tabs projectId={project_id} id={id} tab={tab} />
      <Notices connection={connection} tab={tab} />
      {tab === 'health' && <Health connection={connection} />}
      {tab === 'secrets' && <Secrets connection={connection} />}
      {tab === 'setup' && <Setup connection={connection} />}
      {tab === 'inbox' &&
        (event === undefined ? <Inbox connection={connection} /> : <InboxEvent connection={connection} id={event} />)}
    </>
  )
}

function Tabs({ projectId, id, tab }: { projectId: string; id: string; tab: Tab }) {
  return (
    <nav className={classes.tabs} aria-label="Parts of the connection">
      {TABS.map(({ value, label }) => (
        <Link
          key={value}
          to="/p/$project/connections/$id"
          params={{ project: projectId, id }}
          search={{ tab: value } as never}
          aria-current={value === tab ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}

/** Says what is missing, and leads to it. Silent when nothing is. */
function Notices({ connection, tab }: { connection: Connection; tab: Tab }) {
  const { project_id, connection_id, status, warnings } = connection
  const { data: lastEvent } = useQuery(lastEventQuery(connection_id))
  const isIncomplete = status === 'needs_setup' || lastEvent === null
  if (tab === 'setup' || (!isIncomplete && warnings.length === 0)) return null
  return (
    <div className={classes.body}>
      <div className={classes.notice}>
        {isIncomplete && (
          <p>
            {status === 'needs_setup' ? 'The setup is incomplete.' : 'No event has arrived yet.'}{' '}
            <Link
              to="/p/$project/connections/$id"
              params={{ project: project_id, id: connection_id }}
              search={{ tab: 'setup' } as never}
            >
              Finish the setup
            </Link>
          </p>
        )}
        {warnings.map(({ field, message }) => (
          <p key={field}>{message}</p>
        ))}
      </div>
    </div>
  )
}

function Loading() {
  return (
    <div className={classes.body} aria-busy>
      <Skeleton height={20} width="40%" />
      <Skeleton height={140} />
      <Skeleton height={140} />
    </div>
  )
}
