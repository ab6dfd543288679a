import type { RotatedAlertChannel } from '@backstop/client'
import { Button, CopyButton, Modal, NumberInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './channel.module.css'

interface Props {
  channelId: string
  fingerprint: string | null
  previousExpiresAt: string | null
  onRotated: (channel: RotatedAlertChannel) => void
}

/** The signing secret of a webhook: rotate it, and sign with both secrets for a time. */
export function SecretRotation({ channelId, fingerprint, previousExpiresAt, onRotated }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const [hours, setHours] = useState(24)
  const rotate = useMutation({
    mutationFn: () => api.alertChannels.rotateSecret(channelId, { overlap_hours: hours }),
    onSuccess: ({ secret: _, ...channel }) => onRotated(channel),
  })
  const close = () => {
    setIsOpen(false)
    rotate.reset()
  }
  const secret = rotate.data?.secret
  return (
    <section className={classes.secret} aria-label="Signing secret">
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
      <Button variant="default" onClick={() => setIsOpen(true)}>
        {fingerprint === null ? 'Create a secret' : 'Rotate the secret'}
      </Button>
      <Modal opened={isOpen} onClose={close} title={secret === undefined ? 'Rotate the secret' : 'The new secret'}>
        {secret === undefined ? (
          <div className={classes.secretForm}>
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
            {rotate.error !== null && <Problem error={rotate.error} what="The secret was not rotated" />}
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Generate a new secret
            </Button>
          </div>
        ) : (
          <div className={classes.secretForm}>
            <p>Copy it now. It is not shown again.</p>
            <pre className={classes.answer}>{secret}</pre>
            <CopyButton value={secret}>
              {({ copied, copy }) => <Button onClick={copy}>{copied ? 'Copied' : 'Copy the secret'}</Button>}
            </CopyButton>
          </div>
        )}
      </Modal>
    </section>
  )
}
