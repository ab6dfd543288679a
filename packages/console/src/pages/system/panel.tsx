import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './system.module.css'

interface Props {
  /** Undefined closes the panel. */
  title: string | undefined
  close: () => void
  children: ReactNode
}

/** The details of a row beside its list. The URL says which row is open. */
export function Panel({ title, close, children }: Props) {
  return (
    <Drawer
      opened={title !== undefined}
      onClose={close}
      position="right"
      size={480}
      title={
        <span className={classes.panelTitle} dir="auto">
          {title}
        </span>
      }
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ duration: 0 }}
    >
      <div className={classes.panel}>{children}</div>
    </Drawer>
  )
}
