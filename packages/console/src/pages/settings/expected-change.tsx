import { Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { expectedChangeQuery } from '../../api/expected-changes.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Principal } from '../../parts/name-of.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { UnreadPage } from '../../parts/unread-page.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { describeCovered, describeUse, ExpectedChangeBadge } from './expected-change-words.tsx'

/** One expected change: what it covers, how much of it is used, and who made and ended it. */
export function Page() {
  const projectId = useProjectId()
  const id = useResourceId()
  const queryClient = useQueryClient()
  const { may } = useSession()
  const { data: change, error, refetch } = useQuery(expectedChangeQuery(id))
  const names = useConnectionNames(projectId)
  const above = (
    <Link to="/p/$project/expected-changes" params={{ project: projectId }}>
      Expected changes
    </Link>
  )
  if (change === undefined) {
    return (
      <UnreadPage title="Expected change" above={above} error={error} retry={() => void refetch()}>
        <Skeleton height={240} width="min(100%, 720px)" />
      </UnreadPage>
    )
  }
  const isOver = change.deleted_at !== null || Date.parse(change.expires_at) <= Date.now()
  const end = async () => {
    await api.expectedChanges.delete(id)
    await queryClient.invalidateQueries({ queryKey: ['expected-changes'] })
  }
  const params = { project: projectId }
  return (
    <>
      <PageHead
        title={change.note}
        above={above}
        actions={
          !isOver &&
          may('manage', projectId) && (
            <ConfirmButton
              question="End this expected change?"
              consequence="It covers nothing more. Changes that it covered stay explained."
              onConfirm={end}
            >
              End now
            </ConfirmButton>
          )
        }
      />
      <div className="body">
        <Facts
          facts={[
            ['State', <ExpectedChangeBadge key="state" change={change} />],
            ['Covers', describeCovered(change, names)],
            ['Payment or subscription', change.subject && <CopyId key="subject" id={change.subject} length={32} />],
            ['Used', describeUse(change)],
            ['Begins', change.starts_at && <Time key="starts" at={change.starts_at} />],
            [change.deleted_at === null ? 'Ends' : 'Would have ended', <Time key="ends" at={change.expires_at} />],
            [
              'Incident',
              change.incident_id && (
                <Link
                  key="incident"
                  className="link"
                  to="/p/$project/incidents/$id"
                  params={{ ...params, id: change.incident_id }}
                >
                  Resolved as our own change
                </Link>
              ),
            ],
            ['Created', <Made key="created" at={change.created_at} by={change.created_by} />],
            ['Ended', change.deleted_at && <Made key="ended" at={change.deleted_at} by={change.deleted_by} />],
            ['Id', <CopyId key="id" id={change.expected_change_id} length={32} />],
          ]}
        />
      </div>
    </>
  )
}

function Made({ at, by }: { at: string; by: string | null }) {
  return (
    <>
      <Time at={at} />
      {by !== null && (
        <>
          {' by '}
          <Principal id={by} />
        </>
      )}
    </>
  )
}
