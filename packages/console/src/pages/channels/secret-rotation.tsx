import type { RotatedAlertChannel } from '@backstop/client'
import { Button, CopyButton, Modal, NumberInput, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { api, useWrite } from '../../api/client.ts'
import { Problem } from '../../parts/page/index.ts'
import { LongText, Time } from '../../parts/show/index.ts'

interface Props {
  channelId: string
  fingerprint: string | null
  previousExpiresAt: string | null
  onRotated: (channel: RotatedAlertChannel) => void
}

/** The signing secret of a webhook: rotate it, and sign with both secrets for a time. */
export function SecretRotation({ channelId, fingerprint, previousExpiresAt, onRotated }: Props) {
  const [isOpen, dialog] = useDisclosure()
  const [hours, setHours] = useState(24)
  const rotate = useWrite(() => api.alertChannels.rotateSecret(channelId, { overlap_hours: hours }), {
    onDone: ({ secret: _, ...channel }) => onRotated(channel),
  })
  const close = () => {
    dialog.close()
    rotate.reset()
  }
  const secret = rotate.data?.secret
  return (
    <Stack
      component="section"
      gap="sm"
      pt={12}
      align="flex-start"
      style={{ borderTop: '1px solid var(--line)' }}
      aria-label="Signing secret"
    >
      <h2>Signing secret</h2>
      <p className="dim">
        {fingerprint === null ? (
          'None: requests are not signed.'
        ) : (
          <>
            In use, with the fingerprint <span className="mono">{fingerprint}</span>.
          </>
        )}
        {previousExpiresAt !== null && (
          <>
            {' '}
            Requests are also signed with the previous secret until <Time at={previousExpiresAt} />.
          </>
        )}
      </p>
      <Button variant="default" onClick={dialog.open}>
        {fingerprint === null ? 'Create a secret' : 'Rotate the secret'}
      </Button>
      <Modal opened={isOpen} onClose={close} title={secret === undefined ? 'Rotate the secret' : 'The new secret'}>
        {secret === undefined ? (
          <Stack gap={12}>
            <p>
              A new secret is generated. Until the overlap ends, each request is signed with both secrets, so you can
              change the receiver without losing a request.
            </p>
            <NumberInput
              label="Overlap in hours"
              min={0}
              max={168}
              value={hours}
              onChange={value => setHours(Number(value))}
            />
            <Problem error={rotate.error} what="The secret was not rotated" />
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Generate a new secret
            </Button>
          </Stack>
        ) : (
          <Stack gap={12}>
            <p>Copy it now. It is not shown again.</p>
            <LongText text={secret} />
            <CopyButton value={secret}>
              {({ copied, copy }) => <Button onClick={copy}>{copied ? 'Copied' : 'Copy the secret'}</Button>}
            </CopyButton>
          </Stack>
        )}
      </Modal>
    </Stack>
  )
}
