import { Button, CopyButton } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './system.module.css'

/** A secret that only this answer of the API shows, with a copy button. */
export function ShownOnce({ label, secret, children }: { label: string; secret: string; children: ReactNode }) {
  return (
    <section className={classes.section} aria-label={label}>
      <p>{children}</p>
      <div className={classes.secret}>
        <code>{secret}</code>
        <CopyButton value={secret} timeout={2_000}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </div>
    </section>
  )
}
