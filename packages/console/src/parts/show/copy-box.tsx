import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import type { ReactNode } from 'react'
import classes from './copy-box.module.css'

interface Props {
  text: string
  /** What is copied, if the button alone does not say it. */
  label?: string
  children?: ReactNode
}

/** Text to paste elsewhere, whole, with a button that copies it. */
export function CopyBox({ text, label, children }: Props) {
  const { copied, copy } = useClipboard({ timeout: 1_500 })
  return (
    <div className={classes.box}>
      {children ?? <span className="mono">{text}</span>}
      <Button
        variant="default"
        size="compact-xs"
        aria-label={label === undefined ? undefined : `Copy ${label}`}
        onClick={() => copy(text)}
      >
        <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
      </Button>
    </div>
  )
}
