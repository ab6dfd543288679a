import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { auditList, deadLetterList, installationQuery, processesQuery } from '../../api/system.ts'
import { PageHead, Problem } from '../../parts/page/index.ts'
import { Badge, Time } from '../../parts/show/index.ts'
import { useAdministration } from '../../session/administration.ts'
import { meQuery } from '../../session/session.ts'
import { Processes } from './processes.tsx'
import { SecretKeys } from './secret-keys.tsx'
import classes from './system.module.css'
import { WaitingWork } from './waiting-work.tsx'
import { systemSentence } from './work-faults.ts'

const ALL = {}

/** The state of the installation, as far as the management API reports it. */
export function Page() {
  const { isAdminOfAll, isAdmin } = useAdministration()
  const { error, refetch } = useQuery(meQuery)
  const letters = useList(deadLetterList, ALL)
  const work = useQuery({ ...installationQuery, enabled: isAdminOfAll })
  const processes = useQuery({ ...processesQuery, enabled: isAdminOfAll })
  const failed = error ?? letters.error
  const count = letters.items.length
  // Without the work and the processes, the sentence would call a disturbed installation undisturbed.
  const isKnown = !letters.isLoading && (!isAdminOfAll || (work.data !== undefined && processes.data !== undefined))
  const title = isKnown ? systemSentence({ count, hasMore: letters.hasMore }, work.data, processes.data) : 'System'
  if (failed !== null) {
    const retry = () => {
      void refetch()
      letters.retry()
    }
    return (
      <>
        <PageHead title="System" />
        <Problem error={failed} retry={retry} what="The state of Backstop could not be read" />
      </>
    )
  }
  return (
    <>
      <PageHead title={title} />
      <Stack className="body" pt={8} gap="xl" maw={760}>
        <ul className={classes.rows}>
          <li>
            <Link className="link" to="/system/dead-letters">
              Dead letters
            </Link>
            {letters.isLoading ? null : count === 0 ? (
              <Badge tone="good">None</Badge>
            ) : (
              <Badge tone="waits">{letters.hasMore ? `More than ${count}` : String(count)}</Badge>
            )}
          </li>
          {isAdmin === true && <LastChange />}
        </ul>
        {isAdminOfAll && (
          <>
            <Processes />
            <WaitingWork />
            <SecretKeys />
          </>
        )}
        <p className="dim">
          Each process has its rates on its metrics port. <code className="mono">npx backstop doctor</code> finds faults
          and says what to do.
        </p>
      </Stack>
    </>
  )
}

function LastChange() {
  const [last] = useList(auditList, ALL).items
  return (
    <li>
      <Link className="link" to="/system/audit">
        Last entry of the audit
      </Link>
      <span className="dim">{last === undefined ? '' : <Time at={last.at} />}</span>
    </li>
  )
}
