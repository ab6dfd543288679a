import { Button, Group, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, refresh, useWrite } from '../../api/client.ts'
import { secretKeysQuery } from '../../api/system.ts'
import { Section } from '../../parts/list/index.ts'
import { Problem, Read } from '../../parts/page/index.ts'
import { Badge } from '../../parts/show/index.ts'
import classes from './system.module.css'

type Keys = Awaited<ReturnType<typeof api.secretKeys.get>>
type Rewrapped = Awaited<ReturnType<typeof api.secretKeys.rewrapSecrets>>

/** The keys that encrypt the stored secrets, and the button that encrypts all of them with the primary key. */
export function SecretKeys() {
  return (
    <Section title="Keys of stored secrets">
      <Read query={useQuery(secretKeysQuery)} what="The keys could not be read" loading={<Skeleton height={40} />}>
        {keys => <KeyRows {...keys} />}
      </Read>
    </Section>
  )
}

function KeyRows({ primary_key_id, keys }: Keys) {
  const others = keys.filter(({ key_id }) => key_id !== primary_key_id)
  const primary = keys.find(({ key_id }) => key_id === primary_key_id) ?? { key_id: primary_key_id, secrets: 0 }
  return (
    <>
      <ul className={classes.rows}>
        {[primary, ...others].map(({ key_id, secrets }) => {
          const isMissing = others.some(other => other.key_id === key_id && !other.available)
          return (
            <li key={key_id}>
              <span>
                <span className="mono">{key_id}</span>
                {key_id === primary_key_id && <span className="dim"> · encrypts new secrets</span>}
              </span>
              {isMissing ? (
                <Badge tone="alarm">{`Missing in SECRET_KEYS: ${describeCount(secrets)} unreadable`}</Badge>
              ) : (
                <span className="dim">{describeCount(secrets)}</span>
              )}
            </li>
          )
        })}
      </ul>
      {others.length === 0 ? (
        <p className="dim">
          Every stored secret is encrypted with the primary key. Other keys may be removed from SECRET_KEYS.
        </p>
      ) : (
        <Rewrap />
      )}
    </>
  )
}

function describeCount(secrets: number): string {
  return secrets === 1 ? '1 secret' : `${secrets.toLocaleString('en')} secrets`
}

function Rewrap() {
  const [rewrapped, setRewrapped] = useState(0)
  const readAgain = () => refresh(secretKeysQuery.queryKey)
  const rewrap = useWrite(() => rewrapAll(setRewrapped), { onDone: readAgain, onError: readAgain })
  return (
    <>
      <p className="dim">
        Encrypt the other secrets with the primary key before you remove its predecessors. It may be repeated at any
        time.
      </p>
      <Group gap="sm">
        <Button variant="default" loading={rewrap.isPending} onClick={() => rewrap.mutate()}>
          Encrypt all with the primary key
        </Button>
        {rewrap.status !== 'idle' && (
          <span role="status" className="dim">{`${rewrapped} connections and channels changed`}</span>
        )}
      </Group>
      {rewrap.data !== undefined && rewrap.data.length > 0 && (
        <ul className={classes.rows}>
          {rewrap.data.map(({ id, kind, reason }) => (
            <li key={id}>{`The ${kind} ${id} was skipped: ${reason}`}</li>
          ))}
        </ul>
      )}
      <Problem error={rewrap.error} what="Not all secrets were encrypted" />
    </>
  )
}

/** @returns the connections and channels whose secrets cannot be read */
async function rewrapAll(onProgress: (rewrapped: number) => void): Promise<Rewrapped['unreadable']> {
  let rewrapped = 0
  for (;;) {
    const answer = await api.secretKeys.rewrapSecrets()
    rewrapped += answer.rewrapped
    onProgress(rewrapped)
    // Without progress every remaining secret lost a race or is unreadable, so another call does not help.
    if (answer.remaining === 0 || answer.rewrapped === 0) return answer.unreadable
  }
}
