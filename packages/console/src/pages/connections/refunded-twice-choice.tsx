import type { Connection } from '@backstop/client'
import { Select } from '@mantine/core'
import { api, useWrite } from '../../api/client.ts'
import { storeConnection } from '../../api/connections.ts'
import { Problem } from '../../parts/page/index.ts'
import { REPEAT_HOURS } from './words.ts'

/** Whether a second refund of the same amount opens an incident: saved at once. */
export function RefundedTwiceChoice({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const { project_id, connection_id, refunded_twice_within_hours: stored } = connection
  const { error, variables, isPending, mutate } = useWrite(
    (hours: number | null) => api.connections.change(project_id, connection_id, { refunded_twice_within_hours: hours }),
    { onDone: storeConnection },
  )
  const shown = String((isPending ? variables : stored) ?? '')
  const listed = REPEAT_HOURS.find(({ value }) => value === shown)
  const current = listed ?? { value: shown, label: `Within ${shown} hours` }
  if (!mayChange) return <p>{current.label}</p>
  return (
    <>
      <Select
        aria-label="Second refunds of the same amount"
        data={listed === undefined ? [...REPEAT_HOURS, current] : REPEAT_HOURS}
        value={shown}
        disabled={isPending}
        onChange={value => mutate(value ? Number(value) : null)}
      />
      <Problem error={error} what="The setting was not saved" />
    </>
  )
}
