import type { ApiKey } from '@backstop/client'
import { Button, Group, Select, TextInput } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { api, refresh, useWrite } from '../../api/client.ts'
import { keyQuery } from '../../api/system.ts'
import { ConfirmButton, handleSubmit, useFields } from '../../parts/form/index.ts'
import { Panel, Section } from '../../parts/list/index.ts'
import { Problem, Read } from '../../parts/page/index.ts'
import { Badge, Facts, idFact, Principal, ShownOnce, Time, timeFact } from '../../parts/show/index.ts'
import { useAdministration } from '../../session/administration.ts'
import { useSession } from '../../session/session.ts'
import { expiryOf, LIFETIMES, nameScopes } from './words.ts'

const SOON_MS = 7 * 24 * 60 * 60_000

export function KeyState({ apiKey: { state, expires_at } }: { apiKey: ApiKey }) {
  if (state === 'revoked') return <Badge tone="quiet">Revoked</Badge>
  if (state === 'expired') return <Badge tone="quiet">Expired</Badge>
  const isSoon = expires_at !== null && Date.parse(expires_at) - Date.now() < SOON_MS
  return isSoon ? <Badge tone="waits">Expires soon</Badge> : <Badge tone="good">Active</Badge>
}

/** One key: its facts, and what can be done with it. */
export function KeyPanel({ id, close }: { id: string; close: () => void }) {
  const key = useQuery(keyQuery(id))
  return (
    <Panel title={key.data?.name ?? 'API key'} close={close}>
      <Read query={key} what="The key could not be read">
        {apiKey => (
          <>
            <KeyFacts apiKey={apiKey} />
            {apiKey.state !== 'revoked' && (
              <>
                <Rename apiKey={apiKey} />
                <Rotate apiKey={apiKey} />
                <Revoke apiKey={apiKey} />
              </>
            )}
          </>
        )}
      </Read>
    </Panel>
  )
}

function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const { nameProject } = useAdministration()
  const { created_by, revoked_by, previous } = apiKey
  return (
    <Facts
      facts={[
        ['State', <KeyState key="state" apiKey={apiKey} />],
        ['Key', <span key="hint" className="mono">{`${apiKey.hint}…`}</span>],
        ['Id', idFact(apiKey.key_id)],
        ['May', nameScopes(apiKey.scopes)],
        ['Project', nameProject(apiKey.project_id)],
        ['Last used', timeFact(apiKey.last_used_at) ?? 'Never'],
        ['Expires', timeFact(apiKey.expires_at) ?? 'Never'],
        ['Created', timeFact(apiKey.created_at)],
        ['Created by', created_by === null ? 'The installation' : <Principal key="by" id={created_by} hasRoom />],
        ['Rotated', timeFact(apiKey.rotated_at)],
        ['Previous key', previous && <PreviousKey key="previous" previous={previous} />],
        ['Revoked', timeFact(apiKey.revoked_at)],
        ['Revoked by', revoked_by && <Principal key="revoker" id={revoked_by} hasRoom />],
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

function Rename({ apiKey }: { apiKey: ApiKey }) {
  const [name, setName] = useInputState(apiKey.name)
  const rename = useWrite(
    () => api.apiKeys.change(apiKey.key_id, { name: name.trim() }, { ifVersion: apiKey.version }),
    { refresh: ['keys'] },
  )
  return (
    <form onSubmit={handleSubmit(() => rename.mutate())}>
      <Section>
        <TextInput label="Name" maxLength={200} value={name} onChange={setName} />
        {name.trim() !== apiKey.name && name.trim() !== '' && (
          <Group gap="sm">
            <Button type="submit" loading={rename.isPending}>
              Rename
            </Button>
            <Button variant="default" onClick={() => setName(apiKey.name)}>
              Cancel
            </Button>
          </Group>
        )}
        <Problem error={rename.error} what="The key was not renamed" />
      </Section>
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
  const { fields, field } = useFields({ overlap: '24', days: '365' })
  const rotate = useWrite(
    () => {
      const overlap_hours = Number(fields.overlap)
      return api.apiKeys.rotate(apiKey.key_id, { overlap_hours, ...expiryOf(fields.days) })
    },
    { refresh: ['keys'] },
  )
  return (
    <Section title="Rotate">
      {rotate.data?.key !== undefined ? (
        <ShownOnce label="The new key" secret={rotate.data.key}>
          Copy the new key now and store it as a secret. Backstop cannot show it again.
        </ShownOnce>
      ) : (
        <>
          <p className="dim">A new key with the same name, scopes and project replaces this key.</p>
          <Select label="The previous key is accepted for" data={OVERLAPS} {...field('overlap')} />
          <Select label="The new key expires after" data={LIFETIMES} {...field('days')} />
          <Group gap="sm">
            <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate
            </Button>
          </Group>
          <Problem error={rotate.error} what="The key was not rotated" />
        </>
      )}
    </Section>
  )
}

function Revoke({ apiKey: { key_id, name } }: { apiKey: ApiKey }) {
  const isOwn = useSession().me?.id === key_id
  const revoke = async () => {
    await api.apiKeys.revoke(key_id)
    await refresh('keys', ...(isOwn ? ['me'] : []))
  }
  return (
    <Section title="Revoke">
      <p className="dim">Requests with a revoked key are refused at once. A revoked key cannot be restored.</p>
      <Group gap="sm">
        <ConfirmButton
          question={`Revoke the key “${name}”?`}
          consequence={
            isOwn
              ? 'You are signed in with this key: your session ends too.'
              : 'Software that uses the key is refused from now on. This cannot be undone.'
          }
          onConfirm={revoke}
        >
          Revoke
        </ConfirmButton>
      </Group>
    </Section>
  )
}
