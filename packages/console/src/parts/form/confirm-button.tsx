import { Button, type ButtonProps, Group, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from '../page/problem.tsx'

interface Props extends Pick<ButtonProps, 'size' | 'color' | 'variant' | 'ml'> {
  /** The words on the button, for example `Revoke`. */
  children: string
  /** The question, for example `Revoke the key “CI”?` */
  question: string
  /** What happens, in one or two sentences. */
  consequence: ReactNode
  onConfirm: () => Promise<unknown>
}

/** A button for what cannot be undone: it asks, shows the progress and the error, and returns the focus. */
export function ConfirmButton({ children, question, consequence, onConfirm, color, ...button }: Props) {
  const [isOpen, { open, close }] = useDisclosure()
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: close })
  const colour = color === undefined ? {} : { color }
  return (
    <>
      <Button variant="default" {...button} {...colour} onClick={open}>
        {children}
      </Button>
      <Modal opened={isOpen} onClose={close} title={question}>
        <Text component="div">{consequence}</Text>
        <Problem error={error} what="Nothing was changed" />
        <Group justify="flex-end" mt="md" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button loading={isPending} onClick={() => mutate()} {...colour}>
            {children}
          </Button>
        </Group>
      </Modal>
    </>
  )
}
