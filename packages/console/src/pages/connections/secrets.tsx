import type { Connection, CreatedConnection } from '@backstop/client'
import { Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { CopyBox } from './copy-box.tsx'
import { Reading } from './health.tsx'
import { useStoreConnection } from './out-of-band-choice.tsx'
import { ReadKeyForm, SecretForm, withoutSecrets } from './secret-forms.tsx'

/** The secret that authenticates events, the key that reads the provider, and the end of the connection. */
export function Secrets({ connection }: { connection: Connection }) {
  const { may } = useSession()
  const mayManage = may('manage', connection.project_id)
  return (
    <div className={classes.body}>
      <section>
        <h2>Secret of the notifications</h2>
        <Fingerprints fingerprints={connection.secret_fingerprints} />
        {mayManage && <Rotation connection={connection} />}
      </section>
      <Reading connection={connection} />
      {mayManage && (
        <div className={classes.stack}>
          <p className="dim">
            {connection.has_read_key
              ? 'A read-only key is stored. A new one replaces it at once.'
              : 'No read-only key is stored.'}
          </p>
          <ReadKeyForm connection={connection} />
        </div>
      )}
      {mayManage && <Deletion connection={connection} />}
    </div>
  )
}

function Fingerprints({ fingerprints }: { fingerprints: readonly string[] }) {
  if (fingerprints.length === 0) return <p className="dim">No secret is stored.</p>
  return (
    <ul className={classes.lines}>
      {fingerprints.map((fingerprint, at) => (
        <li key={fingerprint}>
          <span>
            <span className="mono">{fingerprint}</span>{' '}
            <span className="dim">{at === 0 ? 'the present secret' : 'a former secret, still accepted'}</span>
          </span>
        </li>
      ))}
    </ul>
  )
}

const OVERLAPS = [
  { value: '0', label: 'Not at all' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '259200', label: '3 days' },
]

/** Replaces the secret. The former one stays valid for a time, so that no event is refused while the provider is changed. */
function Rotation({ connection }: { connection: Connection }) {
  const { project_id, connection_id, kind } = connection
  const store = useStoreConnection()
  const [overlap, setOverlap] = useState('86400')
  const [made, setMade] = useState<CreatedConnection | null>(null)
  if (kind === 'reseller') return <SecretForm connection={connection} />
  const rotate = async () => {
    const rotated = await api.connections.rotateSecret(project_id, connection_id, { overlap_seconds: Number(overlap) })
    setMade(rotated)
    store(withoutSecrets(rotated))
  }
  const shown = [made?.signing_secret, made?.username, made?.password].filter(value => value !== undefined)
  return (
    <>
      {kind === 'processor' && <SecretForm connection={connection} />}
      <div className={classes.row}>
        <Select
          label="Accept the former secret for"
          data={OVERLAPS}
          value={overlap}
          onChange={chosen => setOverlap(chosen ?? overlap)}
        />
        <div style={{ alignSelf: 'end' }}>
          <ConfirmButton
            question="Make a new secret?"
            consequence={
              overlap === '0'
                ? 'Events that are signed with the former secret are refused from now on, until the provider has the new one.'
                : 'Backstop makes a new secret and shows it once. Give it to the provider before the former one ends.'
            }
            onConfirm={rotate}
          >
            Make a new secret
          </ConfirmButton>
        </div>
      </div>
      {shown.length > 0 && (
        <div className={classes.stack} role="status">
          <p>The new secret, which is shown only now. Give it to the provider:</p>
          {shown.map(value => (
            <CopyBox key={value} text={value} label="the secret" />
          ))}
        </div>
      )}
    </>
  )
}

function Deletion({ connection: { project_id, connection_id, name } }: { connection: Connection }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const remove = async () => {
    await api.connections.delete(project_id, connection_id)
    void queryClient.invalidateQueries({ queryKey: ['connections', 'list'] })
    void navigate({ to: '/p/$project/connections', params: { project: project_id } })
  }
  return (
    <section>
      <h2>Disconnect</h2>
      <p className="dim">Backstop then sees nothing more of this account. What it has recorded stays.</p>
      <div>
        <ConfirmButton
          color="red"
          question={`Disconnect “${name}”?`}
          consequence={
            <>
              Backstop refuses further events of this account, deletes its secrets and its read-only key, and alerts
              about nothing that happens there. Actions and incidents stay. This cannot be undone: a new connection gets
              another URL.
            </>
          }
          onConfirm={remove}
        >
          Disconnect
        </ConfirmButton>
      </div>
    </section>
  )
}
