import { useQuery } from '@tanstack/react-query'
import { type AuditRow, keyQuery } from '../../api/system.ts'
import classes from './system.module.css'

/** Who made the request: a row has the name, or only the id of its key. */
export function Actor({ row: { actor, key_id, key_hint } }: { row: AuditRow }) {
  const isAsked = !actor?.name && key_id !== null && key_id !== 'recovery'
  const { data: key } = useQuery({ ...keyQuery(key_id ?? ''), enabled: isAsked, retry: false })
  const name =
    actor?.name ?? key?.name ?? actor?.id ?? key_id ?? (key_hint ? `An unknown key, ${key_hint}…` : 'Nobody: no key')
  return (
    <span className={classes.text} dir="auto" title={name}>
      {name}
    </span>
  )
}
