import type { AuditRow } from '../../api/system.ts'
import { Panel } from '../../parts/list/index.ts'
import { Facts, idFact, Named, timeFact, usePrincipalName, useResourceName } from '../../parts/show/index.ts'
import { useAdministration } from '../../session/administration.ts'
import classes from './audit-panel.module.css'
import { describeAction, describeErased, showValue } from './audit-words.ts'

interface Props {
  row: AuditRow
}

/** Who made the request: a row has the name, or only the id of its key. */
export function Actor({ row: { actor, key_id, key_hint } }: Props) {
  const id = actor?.id ?? key_id
  const known = usePrincipalName(actor?.name ? null : id)
  const name = actor?.name ?? known ?? id ?? (key_hint ? `An unknown key, ${key_hint}…` : 'Nobody: no key')
  return (
    <span className="cut" dir="auto" title={id === null || id === name ? name : `${name} (${id})`}>
      {name}
    </span>
  )
}

/** The name of what a row changed, or its id. */
export function Target({ row: { target, project_id } }: Props) {
  const name = useResourceName(target, project_id)
  return (
    <span className={name === undefined ? 'mono dim cut' : 'cut'} dir="auto" title={target}>
      {name ?? target}
    </span>
  )
}

/** What a row changed, by name and id. */
function TargetFact({ row: { target, project_id } }: Props) {
  return <Named id={target} name={useResourceName(target, project_id)} hasRoom />
}

/** One row of the audit: who changed what, with the old and the new values. */
export function AuditPanel({ row, close }: Props & { close: () => void }) {
  const { nameProject } = useAdministration()
  return (
    <Panel title={describeAction(row)} close={close}>
      <Facts
        facts={[
          ['When', timeFact(row.at)],
          ['Last time', row.last_at === row.at ? null : timeFact(row.last_at)],
          ['Who', <Actor key="who" row={row} />],
          ['Key or person', idFact(row.actor?.id)],
          ['Changed', row.target === '' ? null : <TargetFact key="target" row={row} />],
          ['Project', row.project_id && nameProject(row.project_id)],
          ['Refused requests', row.count],
          ['Operations', row.operations?.join(', ')],
          ['Address', row.address],
          ['Session', idFact(row.session_id)],
          ['Request', idFact(row.request_id)],
          ['Erased', row.erased && describeErased(row.erased)],
          ['Place in the chain', row.sequence],
          ['Hash', idFact(row.hash)],
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
