import { Button, Textarea } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import classes from './incident.module.css'

interface Props {
  /** Why the last comment was not stored. */
  problem: ReactNode
  /** @returns whether the comment was stored */
  onComment: (text: string) => Promise<boolean>
}

export function CommentForm({ problem, onComment }: Props) {
  const [text, setText] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const send = async () => {
    setIsBusy(true)
    const isStored = await onComment(text.trim())
    setIsBusy(false)
    if (isStored) setText('')
  }
  return (
    <form
      className={classes.comment}
      onSubmit={event => {
        event.preventDefault()
        if (text.trim() !== '') void send()
      }}
    >
      <Textarea
        aria-label="Comment"
        placeholder="Comment, for example what you found out"
        maxLength={1_000}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
      />
      {problem}
      {text.trim() !== '' && (
        <Button type="submit" variant="default" loading={isBusy}>
          Comment
        </Button>
      )}
    </form>
  )
}
