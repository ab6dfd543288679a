import { UnstyledButton } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { shortenId } from '../../format/ids.ts'
import classes from './copy-id.module.css'

/** An id in a monospace face, shortened in the middle. A click copies the whole id. */
export function CopyId({ id, length }: { id: string; length?: number }) {
  const { copied, copy } = useClipboard({ timeout: 1_500 })
  return (
    <UnstyledButton
      className={classes.id}
      title={id}
      // Contains the visible text, so that it can be said to a program that is controlled by speech. The title has the whole id.
      aria-label={`Copy ${shortenId(id, length)}`}
      onClick={event => {
        event.preventDefault()
        event.stopPropagation()
        copy(id)
      }}
    >
      <span aria-hidden>{copied ? 'copied' : shortenId(id, length)}</span>
      <span className={classes.live} aria-live="polite">
        {copied ? 'Copied' : ''}
      </span>
    </UnstyledButton>
  )
}
