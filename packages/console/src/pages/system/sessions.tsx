import type { Session } from '@backstop/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { api } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { sessionList } from '../../api/system.ts'
import { Badge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { Facts } from '../../parts/facts.tsx'
import { usePrincipalName } from '../../parts/name-of.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { signOut, useSession } from '../../session/session.ts'
import { Panel } from './panel.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
import { nameBrowser } from './words.ts'

const FILTERS = { session: z.string() }
const QUERY = {}
const SIGNED_IN_BY: Record<Session['signed_in_by'], string> = {
  key: 'API key',
  link: 'Sign-in link',
  oidc: 'Your organisation',
}

export function Page() {
  const [{ session: id }, setFilters] = useFilters(FILTERS)
  const { isAdminOfAll } = useAdministration()
  const list = useList(sessionList, QUERY)
  const session = list.items.find(({ session_id }) => session_id === id)
  return (
    <>
      <PageHead title="Sessions">
        <p className="dim">
          {isAdminOfAll ? 'Browsers that are or were signed in.' : 'Browsers in which you are or were signed in.'} Ended
          sessions are listed for 30 days.
        </p>
      </PageHead>
      <DataList
        label="Sessions"
        list={list}
        columns={COLUMNS}
        hrefOf={({ session_id }) => `/system/sessions?session=${session_id}`}
        empty={<p>No session: nobody is signed in with a browser.</p>}
      />
      {session !== undefined && <SessionPanel session={session} close={() => setFilters({ session: undefined })} />}
    </>
  )
}

const COLUMNS: readonly Column<Session>[] = [
  { title: 'State', width: '136px', card: 'line', cell: session => <SessionState session={session} /> },
  { title: 'Who', width: 'minmax(0, 1fr)', card: 'title', cell: session => <Who session={session} /> },
  {
    title: 'Browser',
    width: 'minmax(0, 1fr)',
    card: 'line',
    cell: ({ user_agent }) => <span className={classes.text}>{nameBrowser(user_agent)}</span>,
  },
  { title: 'Address', width: '136px', cell: ({ address }) => <span className="mono dim">{address ?? ''}</span> },
  { title: 'Signed in by', width: '136px', cell: ({ signed_in_by }) => SIGNED_IN_BY[signed_in_by] },
  timeColumn('Last seen', '112px', ({ last_seen_at }) => last_seen_at),
]

function SessionState({ session: { session_id, state } }: { session: Session }) {
  const { me } = useSession()
  if (state === 'ended') return <Badge tone="quiet">Ended</Badge>
  if (state === 'expired') return <Badge tone="quiet">Expired</Badge>
  return <Badge tone="good">{me?.session_id === session_id ? 'This session' : 'Active'}</Badge>
}

/** The name of the person or key. Who is no admin sees only own sessions. */
function Who({ session: { principal_id } }: { session: Session }) {
  const name = usePrincipalName(principal_id)
  if (name === undefined) return <span className="mono dim">{principal_id}</span>
  return (
    <span className={classes.text} dir="auto">
      {name}
    </span>
  )
}

function SessionPanel({ session, close }: { session: Session; close: () => void }) {
  const { me } = useSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { session_id, principal_id, signed_in_by, created_at, last_seen_at, expires_at, ended_at } = session
  const isThis = me?.session_id === session_id
  const end = async () => {
    if (isThis) {
      await signOut()
      void navigate({ to: '/sign-in' })
      return
    }
    await api.sessions.end(session_id)
    close()
    await queryClient.invalidateQueries({ queryKey: ['sessions'] })
  }
  return (
    <Panel title={nameBrowser(session.user_agent)} close={close}>
      <Facts
        facts={[
          ['State', <SessionState key="state" session={session} />],
          ['Who', <Who key="who" session={session} />],
          ['Key or person', <CopyId key="principal" id={principal_id} length={32} />],
          ['Signed in by', SIGNED_IN_BY[signed_in_by]],
          ['Signed in', <Time key="created" at={created_at} />],
          ['Last seen', <Time key="seen" at={last_seen_at} />],
          [session.state === 'active' ? 'Ends at the latest' : 'End', <Time key="end" at={ended_at ?? expires_at} />],
          ['Address', session.address],
          ['Browser as it says', session.user_agent],
          ['Id', <CopyId key="id" id={session_id} length={32} />],
        ]}
      />
      {session.state === 'active' && (
        <div className={classes.buttons}>
          <ConfirmButton
            question={isThis ? 'Sign out here?' : 'End this session?'}
            consequence="The next request of this browser is refused, and the sign-in page opens there. Sessions that its sign-in links opened end too."
            onConfirm={end}
          >
            {isThis ? 'Sign out' : 'End session'}
          </ConfirmButton>
        </div>
      )}
    </Panel>
  )
}
