import { Drawer, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  close: () => void
  children: ReactNode
}

/** The details of a row beside its list. The URL says which row is open. */
export function Panel({ title, close, children }: Props) {
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size={480}
      title={
        <Text component="span" fw={600} size="lg" lineClamp={3} dir="auto" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Text>
      }
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ duration: 0 }}
    >
      <Stack gap="lg">{children}</Stack>
    </Drawer>
  )
}

/** A part of a panel or page, with its heading. @param label names it as a region of the page */
export function Section({ title, label, children }: { title?: string; label?: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" miw={0} aria-label={label}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </Stack>
  )
}
