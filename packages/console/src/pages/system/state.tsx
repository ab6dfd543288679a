import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { auditList, deadLetterList, installationQuery, processesQuery } from '../../api/system.ts'
import { Badge } from '../../parts/badges.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { meQuery } from '../../session/session.ts'
import { Processes } from './processes.tsx'
import { SecretKeys } from './secret-keys.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
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
  // Without the work and the processes, the sentence would call a disturbed installation undisturbed.
  const isKnown = !letters.isLoading && (!isAdminOfAll || (work.data !== undefined && processes.data !== undefined))
  const title = isKnown
    ? systemSentence({ count: letters.items.length, hasMore: letters.hasMore }, work.data, processes.data)
    : 'System'
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
      <div className={classes.page}>
        <ul className={classes.rows}>
          <li className={classes.row}>
            <Link className="link" to="/system/dead-letters">
              Dead letters
            </Link>
            {letters.isLoading ? null : letters.items.length === 0 ? (
              <Badge tone="good">None</Badge>
            ) : (
              <Badge tone="waits">{count(letters.items.length, letters.hasMore)}</Badge>
            )}
          </li>
          {isAdmin === true && <LastChange />}
        </ul>
        {isAdminOfAll && <Processes />}
        {isAdminOfAll && <WaitingWork />}
        {isAdminOfAll && <SecretKeys />}
        <p className="dim">
          Each process has its rates on its metrics port. <code className="mono">npx backstop doctor</code> finds faults
          and says what to do.
        </p>
      </div>
    </>
  )
}

function count(letters: number, hasMore: boolean): string {
  return hasMore ? `More than ${letters}` : String(letters)
}

function LastChange() {
  const { items } = useList(auditList, ALL)
  const [last] = items
  return (
    <li className={classes.row}>
      <Link className="link" to="/system/audit">
        Last entry of the audit
      </Link>
      <span className="dim">{last === undefined ? '' : <Time at={last.at} />}</span>
    </li>
  )
}
