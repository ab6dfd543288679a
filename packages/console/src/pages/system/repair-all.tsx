import { Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { api, refresh, useWrite } from '../../api/client.ts'
import { Problem } from '../../parts/page/index.ts'

type Filters = Omit<NonNullable<Parameters<typeof api.deadLetters.replayAll>[0]>, 'cursor'>
type Kind = keyof typeof WORDS

const NONE = { done: 0, blocked: 0 }
const WORDS = {
  replay: {
    button: 'Send all again',
    title: 'Send all that fit the filters again?',
    about: 'Do this after the cause was removed. Dead letters that still cannot be used are listed again.',
    done: 'sent again',
  },
  dismiss: {
    button: 'Dismiss all',
    title: 'Dismiss all that fit the filters?',
    about:
      'They are never sent, and leave this list. Do this for messages that nothing can use, for example of another program. Events of a provider and deliveries stay.',
    done: 'dismissed',
  },
} as const

interface Props {
  filters: Filters
  kind: Kind
  /** Whether there is something to do. The dialog stays open without it, because its result is read after the list became empty. */
  isPossible: boolean
}

/** Sends again or dismisses every dead letter that the filters select, 200 with each request, and shows the progress. */
export function RepairAll({ filters, kind, isPossible }: Props) {
  const { button, title, about, done } = WORDS[kind]
  const [isOpen, dialog] = useDisclosure()
  const [progress, setProgress] = useState(NONE)
  const readAgain = () => refresh('dead-letters')
  const repair = useWrite(() => changeAll(kind, filters, setProgress), { onDone: readAgain, onError: readAgain })
  const close = () => {
    dialog.close()
    setProgress(NONE)
    repair.reset()
  }
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      {isPossible && (
        <Button variant="default" onClick={dialog.open}>
          {button}
        </Button>
      )}
      <Modal opened={isOpen} onClose={close} title={isFiltered ? title : `${button}?`}>
        <Stack gap="md">
          {repair.isIdle ? (
            <p>{about}</p>
          ) : (
            <p role="status">
              {`${progress.done.toLocaleString('en')} ${done}`}
              {progress.blocked > 0 && `, ${progress.blocked.toLocaleString('en')} cannot be ${done}`}
              {repair.isPending ? '…' : '.'}
              {repair.isSuccess && progress.done > 0 && ' They leave the list within seconds.'}
            </p>
          )}
          <Problem error={repair.error} what={`Not all were ${done}`} />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={close}>
              {repair.isIdle ? 'Cancel' : 'Close'}
            </Button>
            {!repair.isSuccess && (
              <Button loading={repair.isPending} onClick={() => repair.mutate()}>
                {button}
              </Button>
            )}
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

async function changeAll(kind: Kind, filters: Filters, onProgress: (progress: typeof NONE) => void): Promise<void> {
  const total = { ...NONE }
  let cursor: string | null = null
  // Letters that fail again are newer, so they are not sent twice.
  const to = new Date().toISOString()
  do {
    const body: Filters & { cursor?: string } = { to, ...filters, ...(cursor === null ? {} : { cursor }) }
    const answer = await (kind === 'replay' ? api.deadLetters.replayAll(body) : api.deadLetters.dismissAll(body))
    total.done += 'replayed' in answer ? answer.replayed : answer.dismissed
    total.blocked += answer.blocked.length
    cursor = answer.next_cursor
    onProgress({ ...total })
  } while (cursor !== null)
}
