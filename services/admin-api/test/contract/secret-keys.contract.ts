import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing, type SecretBox } from '@backstop/kit/secret-box'
import { describe, expect, test } from 'vitest'
import { createApiClient } from '../api-client.ts'
import { BOOTSTRAP_KEY, createTestApp, secretBoxOfTests, type TestApi } from '../test-api.ts'
import { createTestKey, createTestProject } from './test-project.ts'

const boxOf = (...keys: readonly (readonly [keyId: string, fill: number])[]): SecretBox =>
  createSecretBox(
    parseKeyRing(new Secret(keys.map(([id, fill]) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`).join(','))),
  )
/** k1 is the key of the tests (test-api.ts). */
const [K1, K2] = [
  ['k1', 7],
  ['k2', 9],
] as const

export function describeSecretKeys(testApi: () => TestApi): void {
  /** Runs `use` with a second API over the same database, as after a restart with these keys. */
  async function withKeys<T>(secretBox: SecretBox, use: (api: ReturnType<typeof createApiClient>) => Promise<T>) {
    const { stores, expiredSecrets } = testApi()
    // The audit keeps the key of the other tests, because their API would report rows that another key signed.
    const { mac, checkMac } = secretBoxOfTests
    const app = createTestApp({ stores, expiredSecrets, secretBox: { ...secretBox, mac, checkMac } })
    await app.start()
    try {
      return await use(createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY, []))
    } finally {
      await app.stop()
    }
  }

  /** Every kind of stored secret, one of them in its overlap. */
  async function storeSecrets() {
    const { api } = testApi()
    const { projectId } = await createTestProject(api)
    const connections = `/v1/projects/${projectId}/connections`
    const processor = {
      kind: 'processor',
      name: 'P',
      signing_secret: 'whsec_first_secret_of_processor',
      read_key: 'rk_test_key_that_only_reads',
    }
    const made = await api.post(connections, processor)
    expect(made.status).toBe(201)
    const { connection_id } = made.body
    await api.post(`${connections}/${connection_id}/rotate-secret`, {
      signing_secret: 'whsec_second_secret_of_processor',
    })
    const channel = async (config: object) => {
      const made = await api.post('/v1/alert-channels', {
        project_id: projectId,
        name: 'x',
        events: ['run.failed'],
        config,
      })
      expect(made.status).toBe(201)
      return made.body.channel_id as string
    }
    const url = 'https://hooks.example.test/in'
    const webhookId = await channel({ kind: 'webhook', url, secret: 'first', headers: { 'X-Token': 'a token' } })
    await api.post(`/v1/alert-channels/${webhookId}/rotate-secret`, { secret: 'second' })
    await channel({ kind: 'slack', webhook_url: 'https://hooks.slack.com/services/T0/B0/x' })
    await channel({ kind: 'pagerduty', routing_key: 'a'.repeat(32) })
    await channel({ kind: 'email', to: ['a@b.test'] })
    return { projectId, connectionId: connection_id as string, webhookId }
  }

  /** Rewraps until nothing remains. @returns all answers */
  async function rewrapAll(api: ReturnType<typeof createApiClient>) {
    const answers = []
    for (;;) {
      const { status, body } = await api.post('/v1/secret-keys/rewrap')
      expect(status).toBe(200)
      answers.push(body)
      if (body.remaining === 0) return answers
    }
  }

  describe('the keys of stored secrets', () => {
    test('after a rewrap, every secret can be read without the previous key', async () => {
      const { stores } = testApi()
      const { connectionId, webhookId, projectId } = await storeSecrets()
      const before = await withKeys(boxOf(K2, K1), api => api.get('/v1/secret-keys'))
      expect(before.body.primary_key_id).toBe('k2')
      expect(before.body.keys).toContainEqual({ key_id: 'k1', secrets: expect.any(Number), available: true })

      const answers = await withKeys(boxOf(K2, K1), rewrapAll)
      expect(answers.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBeGreaterThanOrEqual(4)

      const alone = boxOf(K2)
      const after = await withKeys(alone, api => api.get('/v1/secret-keys'))
      expect(after.body.keys).toEqual([{ key_id: 'k2', secrets: expect.any(Number), available: true }])
      const connection = await stores.connections.find({ _id: connectionId })
      const opened = connection?.inbound_secrets.map(({ sealed }) =>
        alone
          .open(sealed, { collection: 'connections', id: connectionId, field: 'inbound_secret', projectId })
          .reveal(),
      )
      expect(opened).toEqual(['whsec_second_secret_of_processor', 'whsec_first_secret_of_processor'])
      const channel = await stores.channels.find({ _id: webhookId })
      if (channel?.config.kind !== 'webhook') throw new Error('The webhook is missing')
      const { secret, previous_secret: previous, headers, fingerprint } = channel.config
      const place = { collection: 'channels', id: webhookId, projectId } as const
      expect(alone.open(secret ?? '', { ...place, field: 'secret' }).reveal()).toBe('second')
      expect(alone.open(previous?.sealed ?? '', { ...place, field: 'previous_secret' }).reveal()).toBe('first')
      expect(alone.open(headers?.['X-Token'] ?? '', { ...place, field: 'headers' }).reveal()).toBe('a token')
      expect(fingerprint).toBe(alone.fingerprint(new Secret('second')))
      // The other tests use k1.
      await withKeys(boxOf(K1, K2), rewrapAll)
    })

    test('two replicas that rewrap at once, and a call that ended early, leave nothing behind', async () => {
      const { stores } = testApi()
      const { webhookId } = await storeSecrets()
      const channel = await stores.channels.find({ _id: webhookId })
      if (channel === undefined) throw new Error('The webhook is missing')
      const k1 = boxOf(K1)
      for (let at = 0; at < 110; at++) {
        const id = `${webhookId}_${at}`
        const context = { collection: 'channels', id, field: 'secret', projectId: channel.project_id } as const
        const secret = k1.seal(new Secret(`secret ${at}`), context)
        const config = { kind: 'webhook', url: 'https://hooks.example.test/in', secret, fingerprint: '' } as const
        await stores.channels.insert({ ...channel, _id: id, config })
      }
      const first = await withKeys(boxOf(K2, K1), api => api.post('/v1/secret-keys/rewrap'))
      expect(first.body).toMatchObject({ rewrapped: 100, unreadable: [] })
      expect(first.body.remaining).toBeGreaterThan(0)
      await Promise.all([withKeys(boxOf(K2, K1), rewrapAll), withKeys(boxOf(K2, K1), rewrapAll)])
      const after = await withKeys(boxOf(K2), api => api.get('/v1/secret-keys'))
      expect(after.body.keys.map(({ key_id }: { key_id: string }) => key_id)).toEqual(['k2'])
      await withKeys(boxOf(K1, K2), rewrapAll)
      for (let at = 0; at < 110; at++) await stores.channels.remove({ _id: `${webhookId}_${at}` })
    })

    test('names a secret whose key is missing, and rewraps the others', async () => {
      const { stores } = testApi()
      const { webhookId } = await storeSecrets()
      const channel = await stores.channels.find({ _id: webhookId })
      if (channel?.config.kind !== 'webhook') throw new Error('The webhook is missing')
      const place = { collection: 'channels', id: webhookId, field: 'secret', projectId: channel.project_id } as const
      const lost = boxOf(['lost', 3]).seal(new Secret('x'), place)
      await stores.channels.change({ _id: webhookId }, { config: { ...channel.config, secret: lost } })
      const answers = await withKeys(boxOf(K2, K1), rewrapAll)
      expect(answers.flatMap(({ unreadable }) => unreadable)).toEqual([
        { kind: 'channel', id: webhookId, reason: expect.stringContaining('add that key to SECRET_KEYS again') },
      ])
      const after = await withKeys(boxOf(K2, K1), api => api.get('/v1/secret-keys'))
      expect(after.body.keys).toContainEqual({ key_id: 'lost', secrets: 1, available: false })
      await stores.channels.change({ _id: webhookId }, { config: channel.config })
      await withKeys(boxOf(K1, K2), rewrapAll)
    })

    test('refuses a key that is bound to a project', async () => {
      const { api } = testApi()
      const { projectId } = await createTestProject(api)
      const bound = api.withKey(await createTestKey(api, ['admin'], projectId))
      expect(await bound.get('/v1/secret-keys')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(await bound.post('/v1/secret-keys/rewrap')).toMatchObject({ status: 403 })
    })
  })
}
