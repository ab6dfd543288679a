import type { Session } from '@backstop/client'
import { Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api, refresh } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { sessionList } from '../../api/system.ts'
import { ConfirmButton } from '../../parts/form/index.ts'
import { type Column, ListPage, Panel, textColumn, timeColumn } from '../../parts/list/index.ts'
import { Badge, Facts, idFact, timeFact, usePrincipalName } from '../../parts/show/index.ts'
import { useAdministration } from '../../session/administration.ts'
import { signOut, useSession } from '../../session/session.ts'
import { nameBrowser } from './words.ts'

const ALL = {}
const SIGNED_IN_BY: Record<Session['signed_in_by'], string> = {
  key: 'API key',
  link: 'Sign-in link',
  oidc: 'Your organisation',
}

export function Page() {
  const { isAdminOfAll } = useAdministration()
  const list = useList(sessionList, ALL)
  const panelOf = (id: string, close: () => void) => {
    const session = list.items.find(({ session_id }) => session_id === id)
    return session && <SessionPanel session={session} close={close} />
  }
  const whose = isAdminOfAll ? 'Browsers that are or were signed in.' : 'Browsers in which you are or were signed in.'
  return (
    <ListPage
      title="Sessions"
      about={`${whose} Ended sessions are listed for 30 days.`}
      list={list}
      columns={COLUMNS}
      opens={{ param: 'session', show: panelOf }}
      empty="No session: nobody is signed in with a browser."
    />
  )
}

const COLUMNS: readonly Column<Session>[] = [
  { title: 'State', width: '136px', card: 'line', cell: session => <SessionState session={session} /> },
  { title: 'Who', width: 'minmax(0, 1fr)', card: 'title', cell: session => <Who session={session} /> },
  textColumn('Browser', 'minmax(0, 1fr)', ({ user_agent }) => nameBrowser(user_agent), { card: 'line' }),
  textColumn('Address', '136px', ({ address }) => address, { tone: 'mono dim' }),
  textColumn('Signed in by', '136px', ({ signed_in_by }) => SIGNED_IN_BY[signed_in_by]),
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
  return <span dir="auto">{name}</span>
}

function SessionPanel({ session, close }: { session: Session; close: () => void }) {
  const { me } = useSession()
  const navigate = useNavigate()
  const { session_id, ended_at, expires_at } = session
  const isThis = me?.session_id === session_id
  const end = async () => {
    if (isThis) {
      await signOut()
      void navigate({ to: '/sign-in' })
      return
    }
    await api.sessions.end(session_id)
    close()
    await refresh('sessions')
  }
  return (
    <Panel title={nameBrowser(session.user_agent)} close={close}>
      <Facts
        facts={[
          ['State', <SessionState key="state" session={session} />],
          ['Who', <Who key="who" session={session} />],
          ['Key or person', idFact(session.principal_id)],
          ['Signed in by', SIGNED_IN_BY[session.signed_in_by]],
          ['Signed in', timeFact(session.created_at)],
          ['Last seen', timeFact(session.last_seen_at)],
          [session.state === 'active' ? 'Ends at the latest' : 'End', timeFact(ended_at ?? expires_at)],
          ['Address', session.address],
          ['Browser as it says', session.user_agent],
          ['Id', idFact(session_id)],
        ]}
      />
      {session.state === 'active' && (
        <Group gap="sm">
          <ConfirmButton
            question={isThis ? 'Sign out here?' : 'End this session?'}
            consequence="The next request of this browser is refused, and the sign-in page opens there. Sessions that its sign-in links opened end too."
            onConfirm={end}
          >
            {isThis ? 'Sign out' : 'End session'}
          </ConfirmButton>
        </Group>
      )}
    </Panel>
  )
}
