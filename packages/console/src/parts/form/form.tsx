import { Button, type ButtonProps, Group, Modal, type ModalProps, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Problem } from '../page/problem.tsx'
import { handleSubmit } from './use-fields.ts'

interface FormProps {
  /** The request that the form sends. */
  write: { readonly isPending: boolean; readonly error: Error | null }
  /** What failed, as a sentence without a full stop. */
  failed: string
  /** The words on the button that sends it. */
  button: string
  isComplete?: boolean
  onSubmit: () => void
  /** Without it, there is no button that cancels. */
  onCancel?: () => void
  /** Left of the buttons, for example what is missing. */
  hint?: ReactNode
  children: ReactNode
}

/** The fields of a dialog, above the error of the last attempt and its buttons. */
export function Form({ write, failed, button, isComplete = true, onSubmit, onCancel, hint, children }: FormProps) {
  return (
    <form onSubmit={handleSubmit(() => isComplete && !write.isPending && onSubmit())}>
      <Stack gap="md">
        {children}
        <Problem error={write.error} what={failed} />
        <Group justify="flex-end" gap="sm">
          {hint}
          {onCancel !== undefined && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={write.isPending} disabled={!isComplete}>
            {button}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface DialogProps extends Pick<ButtonProps, 'variant'>, Pick<ModalProps, 'size'> {
  /** The words on the button. */
  label: string
  /** Those of the button by default. */
  title?: string
  children: (close: () => void) => ReactNode
}

/** A button that opens a dialog. What was typed into the dialog is forgotten when it closes. */
export function DialogButton({ label, title = label, size, children, ...button }: DialogProps) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button {...button} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} {...(size === undefined ? {} : { size })}>
        {children(close)}
      </Modal>
    </>
  )
}
