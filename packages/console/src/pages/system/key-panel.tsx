import type { ApiKey, CreatedApiKey } from '@backstop/client'
import { Button, Group, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { keyQuery } from '../../api/system.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Principal } from '../../parts/name-of.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import { KeyState } from './key-state.tsx'
import { LIFETIMES } from './new-key.tsx'
import { Panel } from './panel.tsx'
import { ShownOnce } from './shown-once.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
import { nameScopes } from './words.ts'

/** One key: its facts, and what can be done with it. */
export function KeyPanel({ id, close }: { id: string; close: () => void }) {
  const { data: apiKey, error, refetch } = useQuery(keyQuery(id))
  return (
    <Panel title={apiKey?.name ?? 'API key'} close={close}>
      {error !== null && apiKey === undefined && (
        <Problem error={error} retry={() => void refetch()} what="The key could not be read" />
      )}
      {apiKey !== undefined && (
        <>
          <KeyFacts apiKey={apiKey} />
          {apiKey.state !== 'revoked' && <Changes apiKey={apiKey} />}
        </>
      )}
    </Panel>
  )
}

function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const { nameProject } = useAdministration()
  const { hint, scopes, project_id, created_at, created_by, expires_at, last_used_at, rotated_at, previous } = apiKey
  return (
    <Facts
      facts={[
        ['State', <KeyState key="state" apiKey={apiKey} />],
        ['Key', <span key="hint" className="mono">{`${hint}…`}</span>],
        ['Id', <CopyId key="id" id={apiKey.key_id} length={32} />],
        ['May', nameScopes(scopes)],
        ['Project', nameProject(project_id)],
        ['Last used', last_used_at === null ? 'Never' : <Time key="used" at={last_used_at} />],
        ['Expires', expires_at === null ? 'Never' : <Time key="expires" at={expires_at} />],
        ['Created', <Time key="created" at={created_at} />],
        ['Created by', created_by === null ? 'The installation' : <Principal key="by" id={created_by} hasRoom />],
        ['Rotated', rotated_at && <Time key="rotated" at={rotated_at} />],
        ['Previous key', previous && <PreviousKey key="previous" previous={previous} />],
        ['Revoked', apiKey.revoked_at && <Time key="revoked" at={apiKey.revoked_at} />],
        ['Revoked by', apiKey.revoked_by && <Principal key="revoker" id={apiKey.revoked_by} hasRoom />],
      ]}
    />
  )
}

function PreviousKey({ previous: { hint, expires_at, last_used_at } }: { previous: NonNullable<ApiKey['previous']> }) {
  return (
    <>
      <span className="mono">{hint}…</span> is accepted until <Time at={expires_at} />
      {last_used_at === null ? (
        ', and has not been used since'
      ) : (
        <>
          , last used <Time at={last_used_at} />
        </>
      )}
    </>
  )
}

function Changes({ apiKey }: { apiKey: ApiKey }) {
  const { me } = useSession()
  const queryClient = useQueryClient()
  const isOwn = me?.id === apiKey.key_id
  const revoke = async () => {
    await api.apiKeys.revoke(apiKey.key_id)
    await queryClient.invalidateQueries({ queryKey: ['keys'] })
    if (isOwn) await queryClient.invalidateQueries({ queryKey: ['me'] })
  }
  return (
    <>
      <Rename apiKey={apiKey} />
      <Rotate apiKey={apiKey} />
      <section className={classes.section}>
        <h2>Revoke</h2>
        <p className="dim">Requests with a revoked key are refused at once. A revoked key cannot be restored.</p>
        <div className={classes.buttons}>
          <ConfirmButton
            question={`Revoke the key “${apiKey.name}”?`}
            consequence={
              isOwn
                ? 'You are signed in with this key: your session ends too.'
                : 'Software that uses the key is refused from now on. This cannot be undone.'
            }
            onConfirm={revoke}
          >
            Revoke
          </ConfirmButton>
        </div>
      </section>
    </>
  )
}

function Rename({ apiKey }: { apiKey: ApiKey }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(apiKey.name)
  const rename = useMutation({
    mutationFn: () => api.apiKeys.change(apiKey.key_id, { name: name.trim() }, { ifVersion: apiKey.version }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate()
  }
  const isChanged = name.trim() !== apiKey.name && name.trim() !== ''
  return (
    <form className={classes.section} onSubmit={submit}>
      <TextInput label="Name" maxLength={200} value={name} onChange={event => setName(event.currentTarget.value)} />
      {isChanged && (
        <Group gap="sm">
          <Button type="submit" loading={rename.isPending}>
            Rename
          </Button>
          <Button variant="default" onClick={() => setName(apiKey.name)}>
            Cancel
          </Button>
        </Group>
      )}
      {rename.error !== null && <Problem error={rename.error} what="The key was not renamed" />}
    </form>
  )
}

const OVERLAPS = [
  { value: '0', label: 'Not at all' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
]

function Rotate({ apiKey }: { apiKey: ApiKey }) {
  const queryClient = useQueryClient()
  const [overlap, setOverlap] = useState('24')
  const [days, setDays] = useState('365')
  const [created, setCreated] = useState<CreatedApiKey | undefined>()
  const rotate = useMutation({
    mutationFn: () => {
      const lifetime = days === '' ? {} : { expires_in_days: Number(days) }
      return api.apiKeys.rotate(apiKey.key_id, { overlap_hours: Number(overlap), ...lifetime })
    },
    onSuccess: key => {
      setCreated(key)
      void queryClient.invalidateQueries({ queryKey: ['keys'] })
    },
  })
  return (
    <section className={classes.section}>
      <h2>Rotate</h2>
      {created?.key !== undefined ? (
        <ShownOnce label="The new key" secret={created.key}>
          Copy the new key now and store it as a secret. Backstop cannot show it again.
        </ShownOnce>
      ) : (
        <>
          <p className="dim">A new key with the same name, scopes and project replaces this key.</p>
          <Select
            label="The previous key is accepted for"
            data={OVERLAPS}
            value={overlap}
            onChange={value => setOverlap(value ?? overlap)}
          />
          <Select
            label="The new key expires after"
            data={LIFETIMES}
            value={days}
            onChange={value => setDays(value ?? days)}
          />
          <div className={classes.buttons}>
            <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate
            </Button>
          </div>
          {rotate.error !== null && <Problem error={rotate.error} what="The key was not rotated" />}
        </>
      )}
    </section>
  )
}
