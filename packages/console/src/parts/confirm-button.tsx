import { Button, type ButtonProps, Group, Modal, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Problem } from './problem.tsx'

interface Props extends Pick<ButtonProps, 'variant' | 'color' | 'disabled' | 'size'> {
  /** The words on the button, for example `Revoke`. */
  children: string
  /** The question, for example `Revoke the key “CI”?` */
  question: string
  /** What happens, in one or two sentences. */
  consequence: ReactNode
  onConfirm: () => Promise<unknown>
}

/** A button for what cannot be undone: it asks, shows the progress and the error, and returns the focus. */
export function ConfirmButton({ children, question, consequence, onConfirm, ...button }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const confirm = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onConfirm()
      setIsOpen(false)
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)))
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <>
      <Button variant="default" {...button} onClick={() => setIsOpen(true)}>
        {children}
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title={question}>
        <Text component="div">{consequence}</Text>
        {error !== null && <Problem error={error} what="Nothing was changed" />}
        <Group justify="flex-end" mt="md" gap="sm">
          <Button variant="default" onClick={() => setIsOpen(false)}>
            Cancel
          </Button>
          <Button
            loading={isBusy}
            onClick={() => void confirm()}
            {...(button.color === undefined ? {} : { color: button.color })}
          >
            {children}
          </Button>
        </Group>
      </Modal>
    </>
  )
}
