import type { AuditRow } from '../../api/system.ts'
import { Named, usePrincipalName, useResourceName } from '../../parts/name-of.tsx'
import classes from './system.module.css'

/** Who made the request: a row has the name, or only the id of its key. */
export function Actor({ row: { actor, key_id, key_hint } }: { row: AuditRow }) {
  const id = actor?.id ?? key_id
  const known = usePrincipalName(actor?.name ? null : id)
  const name = actor?.name ?? known ?? id ?? (key_hint ? `An unknown key, ${key_hint}…` : 'Nobody: no key')
  return (
    <span className={classes.text} dir="auto" title={id === null || id === name ? name : `${name} (${id})`}>
      {name}
    </span>
  )
}

/** The name of what a row changed, or its id. */
export function Target({ row: { target, project_id } }: { row: AuditRow }) {
  const name = useResourceName(target, project_id)
  return (
    <span className={name === undefined ? `mono dim ${classes.text}` : classes.text} dir="auto" title={target}>
      {name ?? target}
    </span>
  )
}

/** What a row changed, by name and id. */
export function TargetFact({ row: { target, project_id } }: { row: AuditRow }) {
  return <Named id={target} name={useResourceName(target, project_id)} hasRoom />
}
