import type { Connection } from '@backstop/client'
import { Switch } from '@mantine/core'
import { api, refresh, useWrite } from '../../api/client.ts'
import { storeConnection } from '../../api/connections.ts'
import { Problem } from '../../parts/page/index.ts'

/** Whether many unexplained actions alert before their second looks: saved at once. */
export function BurstAlarmChoice({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const { project_id, connection_id, burst_alarm: stored, version } = connection
  const { error, variables, isPending, mutate } = useWrite(
    (burst_alarm: boolean) =>
      api.connections.change(project_id, connection_id, { burst_alarm }, { ifVersion: version }),
    { onDone: storeConnection, onError: () => refresh('connections') },
  )
  const isOn = isPending ? variables : stored
  if (!mayChange) return <p>{isOn ? 'On' : 'Off'}</p>
  return (
    <>
      <Switch
        label="Warn of bursts"
        checked={isOn}
        disabled={isPending}
        onChange={event => mutate(event.currentTarget.checked)}
      />
      <Problem error={error} what="The setting was not saved" />
    </>
  )
}
