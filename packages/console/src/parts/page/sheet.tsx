/** The page of one thing: marks below its title, and parts in two columns. */
import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './sheet.module.css'

/** What a page shows below its title: states, times and links. */
export function Marks({ children }: { children: ReactNode }) {
  return (
    <Group mt={4} gap="4px 16px">
      {children}
    </Group>
  )
}

export function Columns({ children }: { children: ReactNode }) {
  return <div className={classes.columns}>{children}</div>
}

export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.part}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
