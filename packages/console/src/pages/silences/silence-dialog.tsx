import type { Connection } from '@backstop/client'
import { Button, Group, Modal, Skeleton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'
import { api } from '../../api/client.ts'
import { refreshSilences } from '../../api/connections.ts'
import { formatDayAndTime } from '../../format/times.ts'
import { ConfirmButton } from '../../parts/form/index.ts'
import { Principal, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'

const SilenceForm = lazy(async () => ({ default: (await import('./silence-form.tsx')).SilenceForm }))

interface Props {
  connection: Connection
  /** The reason that is filled in. */
  reason?: string | undefined
}

/** The silence of a connection, or for readers who may begin one the button that opens the dialog. */
export function SilenceControl({ connection, reason }: Props) {
  const { may } = useSession()
  const [isOpen, { open, close }] = useDisclosure()
  const mayBegin = may('manage', connection.project_id)
  return (
    <>
      {connection.silence === null ? (
        mayBegin && (
          <Group>
            <Button variant="default" onClick={open}>
              Silence this connection…
            </Button>
          </Group>
        )
      ) : (
        <ActiveSilence connection={connection} />
      )}
      {isOpen && <SilenceDialog connection={connection} reason={reason} onClose={close} />}
    </>
  )
}

/** Silences a connection for any time. If it is silenced already, says until when, and can end it. */
export function SilenceDialog({ connection, reason, onClose }: Props & { onClose: () => void }) {
  // The live event of the own silence may come before the answer, which closes the dialog.
  const [wasSilenced] = useState(connection.silence !== null)
  return (
    <Modal opened onClose={onClose} title={`Silence ${connection.name}`}>
      {connection.silence === null || !wasSilenced ? (
        <Suspense fallback={<Skeleton height={240} />}>
          <SilenceForm connection={connection} reason={reason} close={onClose} />
        </Suspense>
      ) : (
        <ActiveSilence connection={connection} />
      )}
    </Modal>
  )
}

/** The silence of a connection with its reason and end, and the button that ends it now. Nothing without one. */
function ActiveSilence({ connection: { silence, project_id, connection_id, name } }: Props) {
  const { may } = useSession()
  if (silence === null) return null
  return (
    <>
      <div className="notice">
        <p>
          No alert about <bdi>{name}</bdi> is sent until {formatDayAndTime(Date.parse(silence.ends_at))} (
          <Time at={silence.ends_at} />
          ).
        </p>
        <p dir="auto">“{silence.reason}”</p>
        <p className="dim">
          Begun by <Principal id={silence.created_by} />
        </p>
      </div>
      {may('manage', project_id) && (
        <Group mt="sm">
          <ConfirmButton
            question="End the silence now?"
            consequence="Alerts about this connection are sent again from now on. Those that were held back are not sent later."
            onConfirm={async () => {
              await api.silences.end(silence.silence_id)
              await refreshSilences(connection_id)
            }}
          >
            End the silence
          </ConfirmButton>
        </Group>
      )}
    </>
  )
}
