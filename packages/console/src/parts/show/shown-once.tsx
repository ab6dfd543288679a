import type { ReactNode } from 'react'
import { Section } from '../list/panel.tsx'
import { CopyBox } from './copy-box.tsx'

/** A secret that only this answer of the API shows, with a copy button. */
export function ShownOnce({ label, secret, children }: { label: string; secret: string; children: ReactNode }) {
  return (
    <Section label={label}>
      <p>{children}</p>
      <CopyBox text={secret} />
    </Section>
  )
}
