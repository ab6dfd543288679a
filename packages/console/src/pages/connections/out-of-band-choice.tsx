import type { Connection } from '@backstop/client'
import { Button, Menu, Modal } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type SyntheticEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { connectionList, connectionQuery } from '../../api/connections.ts'
import { mergeIntoLists } from '../../api/list-cache.ts'
import { isLostRace, LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'
import classes from './connections.module.css'
import { MODES, type Mode } from './words.ts'

const labelOf = (mode: Mode) => MODES.find(({ value }) => value === mode)?.label ?? mode

/** Writes a connection that the API answered into the page and the lists. */
export function useStoreConnection(): (connection: Connection) => void {
  const queryClient = useQueryClient()
  return connection => {
    queryClient.setQueryData(connectionQuery(connection.project_id, connection.connection_id).queryKey, connection)
    mergeIntoLists(queryClient, connectionList, connection)
  }
}

function useChangeMode(connection: Connection) {
  const store = useStoreConnection()
  const [former, setFormer] = useState<Mode | null>(null)
  const change = useMutation({
    mutationFn: ({ to, version }: { to: Mode; version: number }) =>
      api.connections.change(
        connection.project_id,
        connection.connection_id,
        { out_of_band: to },
        { ifVersion: version },
      ),
    onMutate({ to }) {
      store({ ...connection, out_of_band: to })
      return connection
    },
    onSuccess: store,
    onError(_error, _to, before) {
      if (before !== undefined) store(before)
      setFormer(null)
    },
  })
  return {
    change,
    former,
    choose(to: Mode, version = connection.version) {
      if (to === connection.out_of_band) return
      setFormer(former === to ? null : connection.out_of_band)
      change.mutate({ to, version })
    },
  }
}

/** The setting of one connection: saved at once, with undo, and with the way to see its effect before it is saved. */
export function OutOfBandChoice({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const navigate = useNavigate()
  const store = useStoreConnection()
  const { change, former, choose } = useChangeMode(connection)
  const { project_id, connection_id, out_of_band, name } = connection
  if (!mayChange) return <span>{labelOf(out_of_band)}</span>
  const showEffect = () =>
    void navigate({ to: '/p/$project/dry-run', params: { project: project_id }, search: { connection_id } as never })
  const readAgain = async () => {
    store(await api.connections.get(project_id, connection_id))
    change.reset()
  }
  const applyMine = async () => {
    const now = await api.connections.get(project_id, connection_id)
    store(now)
    change.mutate({ to: change.variables?.to ?? out_of_band, version: now.version })
  }
  const wanted = labelOf(change.variables?.to ?? out_of_band)
  // A row of the list is a link, which must not open when its selector is used.
  const keepRow = (event: SyntheticEvent) => {
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles no click itself, it only keeps the row from handling it
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same
    <div className={classes.stack} onClick={keepRow}>
      <span className={classes.choice}>
        <Menu width={300}>
          <Menu.Target>
            <Button variant="default" size="compact-sm" aria-label={`out_of_band of ${name}: ${labelOf(out_of_band)}`}>
              {labelOf(out_of_band)} <span aria-hidden>&nbsp;▾</span>
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {MODES.map(({ value, label, meaning }) => (
              <Menu.Item key={value} aria-current={value === out_of_band || undefined} onClick={() => choose(value)}>
                {value === out_of_band ? `${label} ✓` : label}
                <div className="dim">{meaning}</div>
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item onClick={showEffect}>What would have alerted last week by another setting</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        {former !== null && change.error === null && (
          <span role="status" className="faint">
            {change.isPending ? 'Saving ' : 'Saved '}
            <Button variant="subtle" size="compact-xs" disabled={change.isPending} onClick={() => choose(former)}>
              Undo
            </Button>
          </span>
        )}
      </span>
      <Modal
        opened={change.error !== null}
        onClose={() => void readAgain()}
        title={`The setting of “${name}” was not saved`}
      >
        {isLostRace(change.error) ? (
          <LostRace
            theirs={<CurrentMode connection={connection} />}
            yours={`out_of_band: ${wanted}`}
            onKeepTheirs={() => void readAgain()}
            onApplyYours={() => void applyMine()}
          />
        ) : (
          change.error !== null && (
            <Problem error={change.error} what="Nothing was changed" retry={() => void applyMine()} />
          )
        )}
      </Modal>
    </div>
  )
}

/** The setting that is stored now, read again after a lost race. */
function CurrentMode({ connection: { project_id, connection_id } }: { connection: Connection }) {
  const { data } = useQuery({ ...connectionQuery(project_id, connection_id), staleTime: 0 })
  return data === undefined ? 'Reading…' : `out_of_band: ${labelOf(data.out_of_band)}`
}
