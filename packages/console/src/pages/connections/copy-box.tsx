import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import type { ReactNode } from 'react'
import classes from './connections.module.css'

/** Text to paste elsewhere, whole, with a button that copies it. */
export function CopyBox({ text, label, children }: { text: string; label: string; children?: ReactNode }) {
  const { copied, copy } = useClipboard({ timeout: 1_500 })
  return (
    <div className={classes.copy}>
      {children ?? <span className="mono">{text}</span>}
      <Button variant="default" size="compact-xs" aria-label={`Copy ${label}`} onClick={() => copy(text)}>
        <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
      </Button>
    </div>
  )
}
