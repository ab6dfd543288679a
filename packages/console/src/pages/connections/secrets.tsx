import type { Connection, CreatedConnection } from '@backstop/client'
import { Button, Group, PasswordInput, Select, TextInput } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, refresh, useWrite } from '../../api/client.ts'
import { storeConnection } from '../../api/connections.ts'
import { ConfirmButton, handleSubmit } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { CopyBox } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { Reading } from './health.tsx'

interface Props {
  connection: Connection
}

/** The secret that authenticates events, the key that reads the provider, and the end of the connection. */
export function Secrets({ connection }: Props) {
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
        <>
          <div className={classes.stack}>
            <p className="dim">
              {connection.has_read_key
                ? 'A read-only key is stored. A new one replaces it at once.'
                : 'No read-only key is stored.'}
            </p>
            <ReadKeyForm connection={connection} />
          </div>
          <Deletion connection={connection} />
        </>
      )}
    </div>
  )
}

function Fingerprints({ fingerprints }: { fingerprints: readonly string[] }) {
  if (fingerprints.length === 0) return <p className="dim">No secret is stored.</p>
  return (
    <ul className="lines">
      {fingerprints.map((fingerprint, at) => (
        <li key={fingerprint}>
          <span className="mono">{fingerprint}</span>{' '}
          <span className="dim">{at === 0 ? 'the present secret' : 'a former secret, still accepted'}</span>
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
function Rotation({ connection }: Props) {
  const { project_id, connection_id, kind } = connection
  const [overlap, setOverlap] = useState('86400')
  const [made, setMade] = useState<CreatedConnection | null>(null)
  if (kind === 'reseller') return <SecretForm connection={connection} />
  const rotate = async () => {
    const rotated = await api.connections.rotateSecret(project_id, connection_id, { overlap_seconds: Number(overlap) })
    setMade(rotated)
    storeConnection(withoutSecrets(rotated))
  }
  const shown = [made?.signing_secret, made?.username, made?.password].filter(value => value !== undefined)
  return (
    <>
      {kind === 'processor' && <SecretForm connection={connection} />}
      <Group gap="8px 12px" align="end">
        <Select
          label="Accept the former secret for"
          data={OVERLAPS}
          value={overlap}
          onChange={chosen => setOverlap(chosen ?? overlap)}
        />
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
      </Group>
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

function Deletion({ connection: { project_id: project, connection_id, name } }: Props) {
  const navigate = useNavigate()
  const remove = async () => {
    await api.connections.delete(project, connection_id)
    void refresh(['connections', 'list'])
    void navigate({ to: '/p/$project/connections', params: { project } })
  }
  return (
    <section>
      <h2>Disconnect</h2>
      <p className="dim">Backstop then sees nothing more of this account. What it has recorded stays.</p>
      <Group>
        <ConfirmButton
          color="red"
          question={`Disconnect “${name}”?`}
          consequence="Backstop refuses further events of this account, deletes its secrets and its read-only key, and alerts about nothing that happens there. Actions and incidents stay. This cannot be undone: a new connection gets another URL."
          onConfirm={remove}
        >
          Disconnect
        </ConfirmButton>
      </Group>
    </section>
  )
}

interface StoreProps {
  label: string
  description?: string
  button: string
  failed: string
  save: (value: string) => Promise<Connection | CreatedConnection>
  isSecret?: boolean
}

/** One value with its button. A secret is never shown again, so the field is empty after it is stored. */
function StoreForm({ label, description, button, failed, save, isSecret = true }: StoreProps) {
  const [value, setValue] = useInputState('')
  const write = useWrite(save, {
    onDone(connection) {
      storeConnection(withoutSecrets(connection))
      setValue('')
    },
  })
  const Input = isSecret ? PasswordInput : TextInput
  return (
    <form className={classes.form} onSubmit={handleSubmit(() => write.mutate(value.trim()))}>
      <Input label={label} description={description} autoComplete="off" value={value} onChange={setValue} />
      <Button type="submit" variant="default" loading={write.isPending} disabled={value.trim() === ''}>
        {button}
      </Button>
      {write.isSuccess && value === '' && <span role="status">Stored.</span>}
      <Problem error={write.error} what={failed} />
    </form>
  )
}

function withoutSecrets(connection: Connection | CreatedConnection): Connection {
  const { signing_secret, username, password, ...rest } = connection as CreatedConnection
  return rest
}

/** Stores the secret that the provider shows. The former one stays valid for a day. */
export function SecretForm({ connection: { project_id, connection_id, kind } }: Props) {
  const body = (secret: string) => (kind === 'reseller' ? { destination_secret: secret } : { signing_secret: secret })
  return (
    <StoreForm
      label={kind === 'reseller' ? 'Secret of the destination' : 'Signing secret of the provider'}
      button="Store the secret"
      failed="The secret is not stored"
      save={secret => api.connections.rotateSecret(project_id, connection_id, body(secret))}
    />
  )
}

export function ReadKeyForm({ connection: { project_id, connection_id, kind, site } }: Props) {
  return (
    <>
      {kind === 'subscription' && site === null && (
        <StoreForm
          label="Site"
          description="The first part of the account’s address. It cannot be changed afterwards."
          button="Store the site"
          failed="The site is not stored"
          isSecret={false}
          save={value => api.connections.change(project_id, connection_id, { site: value })}
        />
      )}
      <StoreForm
        label="Read-only API key"
        button="Store the key"
        failed="The key is not stored"
        save={read_key => api.connections.change(project_id, connection_id, { read_key })}
      />
    </>
  )
}
