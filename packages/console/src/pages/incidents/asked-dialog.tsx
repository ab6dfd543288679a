import type { Incident } from '@backstop/client'
import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Form } from '../../parts/form/index.ts'
import { type Asked, useAsked } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'

const TITLES: Record<Asked, string> = {
  acknowledge: 'Acknowledge',
  ours: 'This was us',
  silence: 'Silence the connection',
}

/** The states in which a decision is too late: somebody was first. */
const LATE: Record<Asked, readonly Incident['state'][]> = {
  acknowledge: ['acknowledged', 'resolved'],
  ours: ['resolved'],
  silence: ['resolved'],
}

interface Props {
  of: { readonly project_id: string; readonly state: Incident['state'] }
  /** Who brought it into its state. */
  stateSentence: ReactNode
  write: { readonly isPending: boolean; readonly error: Error | null }
  /** Resolves also if it was not made: the page says why not, and what somebody else did meanwhile. */
  onAcknowledge: () => Promise<unknown>
}

/** The decision of a link that can be made now, by this reader; undefined if there is none. */
export function useOpenAsked({ project_id, state }: Props['of']): Asked | undefined {
  const { asked } = useAsked()
  const mayDecide = useMayDecide(project_id)
  // As the page opened: the own decision is not somebody else's.
  const [first] = useState(state)
  return asked !== undefined && mayDecide(asked) && !LATE[asked].includes(first) ? asked : undefined
}

function useMayDecide(projectId: string) {
  const { may } = useSession()
  return (asked: Asked) => may(asked === 'silence' ? 'manage' : 'incidents:write', projectId)
}

/**
 * What a link of a message opens: the question whether to acknowledge, or who was first, or that the reader may not decide. The pages open
 * their own dialogs for the other decisions.
 */
export function AskedDialog({ of, stateSentence, write, onAcknowledge }: Props) {
  const { asked, forget } = useAsked()
  const open = useOpenAsked(of)
  const mayDecide = useMayDecide(of.project_id)
  if (asked === undefined || (open !== undefined && open !== 'acknowledge')) return null
  return (
    <Modal opened onClose={forget} title={TITLES[asked]} size="md">
      {open === 'acknowledge' ? (
        <Form
          write={write}
          failed="It was not acknowledged"
          button="Acknowledge"
          onSubmit={() => void onAcknowledge().then(forget)}
          onCancel={forget}
        >
          <p>Everybody sees that you work on it, and people are not paged about it any more.</p>
        </Form>
      ) : (
        <Stack gap="md">
          {mayDecide(asked) ? (
            <p>Somebody was first. {stateSentence}</p>
          ) : (
            <p>You can read this, but not decide about it. Ask an admin of your team for this right.</p>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={forget}>
              Close
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
