import { Button, Group, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import classes from './system.module.css'

type Filters = Omit<NonNullable<Parameters<typeof api.deadLetters.replayAll>[0]>, 'cursor'>
interface Progress {
  readonly replayed: number
  readonly blocked: number
}

/** Sends every dead letter that the filters select again, 200 with each request, and shows the progress. */
export function RepairAll({ filters }: { filters: Filters }) {
  const queryClient = useQueryClient()
  const [isOpen, setIsOpen] = useState(false)
  const [progress, setProgress] = useState<Progress>({ replayed: 0, blocked: 0 })
  const repair = useMutation({
    mutationFn: () => replayAll(filters, setProgress),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['dead-letters'] }),
  })
  const close = () => {
    setIsOpen(false)
    setProgress({ replayed: 0, blocked: 0 })
    repair.reset()
  }
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        Send all again
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={isFiltered ? 'Send all that fit the filters again?' : 'Send all again?'}
      >
        <div className={classes.form}>
          {repair.isIdle ? (
            <p>Do this after the cause was removed. Dead letters that still cannot be used are listed again.</p>
          ) : (
            <p role="status">
              {`${progress.replayed.toLocaleString()} sent again`}
              {progress.blocked > 0 && `, ${progress.blocked.toLocaleString()} cannot be sent again`}
              {repair.isPending ? '…' : '.'}
            </p>
          )}
          {repair.error !== null && <Problem error={repair.error} what="Not all were sent again" />}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={close}>
              {repair.isIdle ? 'Cancel' : 'Close'}
            </Button>
            {!repair.isSuccess && (
              <Button loading={repair.isPending} onClick={() => repair.mutate()}>
                Send all again
              </Button>
            )}
          </Group>
        </div>
      </Modal>
    </>
  )
}

async function replayAll(filters: Filters, onProgress: (progress: Progress) => void): Promise<void> {
  let replayed = 0
  let blocked = 0
  let cursor: string | null = null
  // Letters that fail again are newer, so they are not sent twice.
  const to = new Date().toISOString()
  do {
    const answer: Awaited<ReturnType<typeof api.deadLetters.replayAll>> = await api.deadLetters.replayAll({
      to,
      ...filters,
      ...(cursor === null ? {} : { cursor }),
    })
    replayed += answer.replayed
    blocked += answer.blocked.length
    cursor = answer.next_cursor
    onProgress({ replayed, blocked })
  } while (cursor !== null)
}
