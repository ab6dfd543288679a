import type { ActorDocument } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { createActorDirectory } from './actor-directory.ts'

const T0 = Date.parse('2026-11-21T10:00:00.000Z')
const SECOND = 1_000

function open() {
  const stored = new Map<string, ActorDocument>()
  const reads: (Date | null)[] = []
  const directory = createActorDirectory({
    secretsOf: async ids => new Map(ids.map(id => [id, `secret of ${id}`])),
    async changedSince(since) {
      reads.push(since)
      return [...stored.values()].filter(({ updated_at }) => since === null || updated_at >= since)
    },
  })
  const put = (_id: string, at: number, fields: Partial<ActorDocument>) => {
    const said = { prefix: null, name: null, role: 'unknown', role_since: new Date(at), removed_at: null } as const
    const times = { created_at: new Date(at), updated_at: new Date(at) }
    stored.set(_id, { _id, project_id: 'prj_1', ...said, version: 1, ...times, ...fields })
  }
  const actorOfKey = async (idempotency_key: string, now: number, projectId = 'prj_1') => {
    const known = await directory.ofProjects([projectId], now)
    const origin = { channel: 'api', key_name: null, user: null, request_id: null, idempotency_key } as const
    return known.identify(projectId, { provider: 'processor', details: { origin } })
  }
  return { directory, reads, put, actorOfKey }
}

test('a declared prefix names its actor in its project within two seconds, and no more after its removal', async () => {
  const { put, actorOfKey } = open()
  expect(await actorOfKey('billing-1', T0)).toBeUndefined()
  put('acr_1', T0 + SECOND, { prefix: 'billing-' })
  expect(await actorOfKey('billing-1', T0 + 3 * SECOND)).toEqual({ id: 'acr_1', kind: 'key_prefix' })
  expect(await actorOfKey('other-1', T0 + 3 * SECOND)).toBeUndefined()
  expect(await actorOfKey('billing-1', T0 + 3 * SECOND, 'prj_2')).toBeUndefined()
  put('acr_1', T0 + 4 * SECOND, { prefix: 'billing-', removed_at: new Date(T0 + 4 * SECOND) })
  expect(await actorOfKey('billing-1', T0 + 6 * SECOND)).toBeUndefined()
  put('acr_2', T0 + 7 * SECOND, { prefix: 'billing-' })
  expect(await actorOfKey('billing-1', T0 + 9 * SECOND)).toEqual({ id: 'acr_2', kind: 'key_prefix' })
})

test('a canary is known within two seconds, with the time of its role, until the role is removed', async () => {
  const { directory, put } = open()
  await directory.ofProjects([], T0)
  put('acr_1', T0 + SECOND, { role: 'canary' })
  await directory.ofProjects([], T0 + 2 * SECOND)
  expect([...directory.canaries]).toEqual([['acr_1', T0 + SECOND]])
  put('acr_1', T0 + 3 * SECOND, { role: 'ours' })
  await directory.ofProjects([], T0 + 4 * SECOND)
  expect([...directory.canaries]).toEqual([])
})

test('what people said is read at most every two seconds, and then only what may have changed', async () => {
  const { directory, reads } = open()
  for (let at = 0; at <= 4_000; at += 100) await directory.ofProjects([], T0 + at)
  expect(reads).toEqual([null, new Date(T0 - 120_000), new Date(T0 + 2 * SECOND - 120_000)])
})
