import type { Connection } from '@backstop/client'
import { Button, Group, Menu, Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type SyntheticEvent, useState } from 'react'
import { api, refresh, useWrite } from '../../api/client.ts'
import { storeConnection } from '../../api/connections.ts'
import { isLostRace, LostRace } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { labelOfMode, MODES, type Mode } from './words.ts'

function useChangeMode({ project_id, connection_id, out_of_band, version }: Connection) {
  const [former, setFormer] = useState<Mode | null>(null)
  const change = useWrite(
    ({ to, version }: { to: Mode; version: number }) =>
      api.connections.change(project_id, connection_id, { out_of_band: to }, { ifVersion: version }),
    {
      onDone: storeConnection,
      onError() {
        setFormer(null)
        // Before the dialog shows the setting that is stored, it is read again.
        return refresh('connections')
      },
    },
  )
  const wanted = change.variables?.to ?? out_of_band
  return {
    change,
    former,
    wanted,
    shown: change.isPending ? wanted : out_of_band,
    choose(to: Mode) {
      if (to === out_of_band) return change.reset()
      setFormer(former === to ? null : out_of_band)
      change.mutate({ to, version })
    },
  }
}

// A row of the list is a link, which must not open when its selector is used.
function keepRow(event: SyntheticEvent): void {
  event.preventDefault()
  event.stopPropagation()
}

/** The setting of one connection: saved at once, with undo, and with the way to see its effect before it is saved. */
export function OutOfBandChoice({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const navigate = useNavigate()
  const modes = useChangeMode(connection)
  const { change, former, shown, choose } = modes
  const { project_id, connection_id, name } = connection
  if (!mayChange) return <span>{labelOfMode(shown)}</span>
  const showEffect = () =>
    void navigate({ to: '/p/$project/dry-run', params: { project: project_id }, search: { connection_id } as never })
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles no click itself, it only keeps the row from handling it
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same
    <div onClick={keepRow}>
      <Group component="span" display="inline-flex" gap="sm" wrap="nowrap">
        <Menu width={300}>
          <Menu.Target>
            <Button
              variant="default"
              size="compact-sm"
              title={`out_of_band: ${shown}`}
              aria-label={`When ${name} alerts: ${labelOfMode(shown)}`}
            >
              {labelOfMode(shown)} <span aria-hidden>&nbsp;▾</span>
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
      </Group>
      <NotSaved connection={connection} modes={modes} />
    </div>
  )
}

/** Why the setting was not saved, and what can be done about it. */
function NotSaved({ connection, modes }: { connection: Connection; modes: ReturnType<typeof useChangeMode> }) {
  const { change, wanted, choose } = modes
  const { error, reset, variables, mutate } = change
  const tryAgain = () => variables !== undefined && mutate(variables)
  return (
    <Modal opened={error !== null} onClose={reset} title={`The setting of “${connection.name}” was not saved`}>
      {isLostRace(error) ? (
        <LostRace
          theirs={`Alerts: ${labelOfMode(connection.out_of_band)}`}
          yours={`Alerts: ${labelOfMode(wanted)}`}
          onKeepTheirs={reset}
          onApplyYours={() => choose(wanted)}
        />
      ) : (
        <Problem error={error} what="Nothing was changed" retry={tryAgain} />
      )}
    </Modal>
  )
}
