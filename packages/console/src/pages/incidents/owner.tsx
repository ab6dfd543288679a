import type { Incident } from '@backstop/client'
import { Button, Group, Menu, Modal, TextInput } from '@mantine/core'
import { useDisclosure, useInputState } from '@mantine/hooks'
import { useSession } from '../../session/session.ts'

/** Who has the incident, and a menu that changes it. */
export function Owner({ incident, onAssign }: { incident: Incident; onAssign: (assignee: string | null) => void }) {
  const { me, may } = useSession()
  const [isAsking, { open, close }] = useDisclosure()
  const { assignee = null, project_id } = incident
  return (
    <Group gap="4px 8px">
      {assignee === null ? <span className="dim">Nobody</span> : <bdi>{assignee}</bdi>}
      {may('incidents:write', project_id) && (
        <Menu>
          <Menu.Target>
            <Button size="compact-xs" variant="subtle">
              {assignee === null ? 'Assign' : 'Change'}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {me !== undefined && assignee !== me.name && (
              <Menu.Item onClick={() => onAssign(me.name)}>Assign to me ({me.name})</Menu.Item>
            )}
            <Menu.Item onClick={open}>Somebody else…</Menu.Item>
            {assignee !== null && <Menu.Item onClick={() => onAssign(null)}>Nobody</Menu.Item>}
          </Menu.Dropdown>
        </Menu>
      )}
      {isAsking && <AskOwner onClose={close} onAssign={onAssign} />}
    </Group>
  )
}

function AskOwner({ onClose, onAssign }: { onClose: () => void; onAssign: (assignee: string) => void }) {
  const [name, setName] = useInputState('')
  return (
    <Modal opened onClose={onClose} title="Assign to a person or team">
      <form
        onSubmit={event => {
          event.preventDefault()
          if (name.trim() === '') return
          onAssign(name.trim())
          onClose()
        }}
      >
        <TextInput label="Name" data-autofocus maxLength={200} value={name} onChange={setName} />
        <Button type="submit" mt="md" disabled={name.trim() === ''}>
          Assign
        </Button>
      </form>
    </Modal>
  )
}
