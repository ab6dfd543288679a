import type { AuditRow } from '../../api/system.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Time } from '../../parts/time.tsx'
import { Actor, TargetFact } from './audit-actor.tsx'
import { describeAction, showValue } from './audit-words.ts'
import { Panel } from './panel.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'

/** One row of the audit: who changed what, with the old and the new values. */
export function AuditPanel({ row, close }: { row: AuditRow; close: () => void }) {
  const { nameProject } = useAdministration()
  return (
    <Panel title={describeAction(row)} close={close}>
      <Facts
        facts={[
          ['When', <Time key="at" at={row.at} />],
          ['Last time', row.last_at && row.last_at !== row.at ? <Time key="last" at={row.last_at} /> : null],
          ['Who', <Actor key="who" row={row} />],
          ['Key or person', row.actor && <CopyId key="actor" id={row.actor.id} length={32} />],
          ['Changed', row.target === '' ? null : <TargetFact key="target" row={row} />],
          ['Project', row.project_id && nameProject(row.project_id)],
          ['Refused requests', row.count],
          ['Operations', row.operations?.join(', ')],
          ['Address', row.address],
          ['Session', row.session_id && <CopyId key="session" id={row.session_id} length={32} />],
          ['Request', row.request_id && <CopyId key="request" id={row.request_id} length={32} />],
          ['Erased', row.erased && `${row.erased.cases} cases, ${row.erased.bodies} raw bodies`],
          ['Place in the chain', row.sequence],
          ['Hash', row.hash && <CopyId key="hash" id={row.hash} length={32} />],
        ]}
      />
      {row.changes !== undefined && row.changes.length > 0 && <Changes changes={row.changes} target={row.target} />}
    </Panel>
  )
}

function Changes({ changes, target }: { changes: NonNullable<AuditRow['changes']>; target: string }) {
  return (
    <section>
      <h2>Changed fields</h2>
      {changes.map(({ resource, field, from, to }) => (
        <div key={`${resource} ${field}`} className={classes.change}>
          <h3>
            <span className="mono">{field}</span>
            {resource !== target && <span className="faint"> of {resource}</span>}
          </h3>
          <Value label="Before" value={from} />
          <Value label="After" value={to} />
        </div>
      ))}
    </section>
  )
}

function Value({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <div className="faint">{label}</div>
      <div className={classes.value} dir="auto">
        {showValue(value)}
      </div>
    </div>
  )
}
