import type { Connection } from '@backstop/client'
import { Button, Menu, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type SyntheticEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { connectionList, connectionQuery } from '../../api/connections.ts'
import { mergeIntoLists } from '../../api/list-cache.ts'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { LostRace } from '../../parts/lost-race.tsx'
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
  const queryClient = useQueryClient()
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
    onSuccess: store,
    onError() {
      setFormer(null)
      // Before the dialog shows the setting that is stored, it is read again.
      return queryClient.invalidateQueries({ queryKey: ['connections'] })
    },
  })
  const wanted = change.variables?.to ?? connection.out_of_band
  return {
    change,
    former,
    wanted,
    shown: change.isPending ? wanted : connection.out_of_band,
    choose(to: Mode) {
      if (to === connection.out_of_band) return change.reset()
      setFormer(former === to ? null : connection.out_of_band)
      change.mutate({ to, version: connection.version })
    },
  }
}

/** The setting of one connection: saved at once, with undo, and with the way to see its effect before it is saved. */
export function OutOfBandChoice({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const navigate = useNavigate()
  const { change, former, wanted, shown, choose } = useChangeMode(connection)
  const { project_id, connection_id, name } = connection
  if (!mayChange) return <span>{labelOf(shown)}</span>
  const tryAgain = () => change.variables !== undefined && change.mutate(change.variables)
  const showEffect = () =>
    void navigate({ to: '/p/$project/dry-run', params: { project: project_id }, search: { connection_id } as never })
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
            <Button variant="default" size="compact-sm" aria-label={`out_of_band of ${name}: ${labelOf(shown)}`}>
              {labelOf(shown)} <span aria-hidden>&nbsp;▾</span>
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {MODES.map(({ value, label, meaning }) => (
              <Menu.Item
                key={value}
                aria-current={value === shown || undefined}
                disabled={change.isPending}
                onClick={() => choose(value)}
              >
                {value === shown ? `${label} ✓` : label}
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
      <Modal opened={change.error !== null} onClose={change.reset} title={`The setting of “${name}” was not saved`}>
        {isLostRace(change.error) ? (
          <LostRace
            theirs={`out_of_band: ${labelOf(connection.out_of_band)}`}
            yours={`out_of_band: ${labelOf(wanted)}`}
            onKeepTheirs={change.reset}
            onApplyYours={() => choose(wanted)}
          />
        ) : (
          change.error !== null && <Problem error={change.error} what="Nothing was changed" retry={tryAgain} />
        )}
      </Modal>
    </div>
  )
}
