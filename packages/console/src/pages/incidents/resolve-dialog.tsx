import { Modal } from '@mantine/core'
import type { ReactElement } from 'react'
import { Form } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { ResolutionFields, useResolution } from './resolution-fields.tsx'
import type { Resolution } from './words.ts'

interface Props {
  title: string
  /** The request, and what failed with it. */
  write: { readonly isPending: boolean; readonly error: Error | null }
  failed: string
  /** A lost race. It has its own buttons, so it replaces the form until the person decides. */
  race: ReactElement | null
  first?: Resolution['reason'] | undefined
  onClose: () => void
  onResolve: (resolution: Resolution) => void
}

/** Asks for the reason and a note before incidents are resolved. */
export function ResolveDialog({ title, race, ...form }: Props) {
  return (
    <Modal opened onClose={form.onClose} title={title} size="md">
      {race === null ? (
        <ResolveForm {...form} />
      ) : (
        <div ref={focus} tabIndex={-1}>
          {race}
          <Problem error={form.write.error} what={form.failed} />
        </div>
      )}
    </Modal>
  )
}

/** The button that had the focus left with the form. */
function focus(element: HTMLElement | null): void {
  element?.focus()
}

function ResolveForm({ write, failed, first, onClose, onResolve }: Omit<Props, 'title' | 'race'>) {
  const fields = useResolution(first)
  const { resolution } = fields
  return (
    <Form
      write={write}
      failed={failed}
      button="Resolve"
      isComplete={resolution !== undefined}
      onSubmit={() => resolution !== undefined && onResolve(resolution)}
      onCancel={onClose}
    >
      <ResolutionFields fields={fields} about="Shown in the timeline and in the message that reports the end." />
    </Form>
  )
}
