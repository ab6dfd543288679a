import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type AdminWorld, BOOTSTRAP_KEY } from '../admin-world.ts'
import { openProject } from './project-of-its-own.ts'

/** Ways in which a secret may lie somewhere in clear. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  // Base64 of a part of a longer text depends on where it begins: the middle of each of the three is looked for.
  const shifted = [0, 1, 2].map(shift => bytes.subarray(shift).toString('base64').replace(/=+$/, '').slice(0, -2))
  return [secret, bytes.toString('hex'), createHash('sha256').update(bytes).digest('hex'), ...shifted]
}

export function describeSecrets(world: () => AdminWorld): void {
  test('no secret is ever answered again, stored in clear or logged', async () => {
    const { api } = world()
    const { projectId } = await openProject(api)
    const at = `/v1/projects/${projectId}/connections`
    const given = {
      signing: 'whsec_canary_of_the_processor',
      destination: 'pdl_ntfset_canary_of_the_reseller',
      readKey: 'test_canary_of_the_read_key',
      slack: 'https://hooks.slack.com/services/T0/B0/canaryofslack',
      webhook: 'canary-of-the-webhook',
      rotated: 'pdl_ntfset_canary_of_the_rotation',
      header: 'Bearer canary-of-a-header',
      changedHeader: 'Bearer canary-of-a-changed-header',
      changedSlack: 'https://hooks.slack.com/services/T0/B0/canaryofachange',
      ownWebhookSecret: 'canary-of-the-second-webhook-secret',
    }
    const key = { 'idempotency-key': `secrets-${projectId}` }
    const processor = { kind: 'processor', name: 'P', signing_secret: given.signing, read_key: given.readKey }
    await api.post(at, processor, key)
    const reseller = await api.post(at, { kind: 'reseller', name: 'R', destination_secret: given.destination })
    const generated = await api.post(at, { kind: 'processor', name: 'G' }, { 'idempotency-key': `g-${projectId}` })
    const subscription = await api.post(at, { kind: 'subscription', name: 'S' })
    const rotated = await api.post(`${at}/${subscription.body.connection_id}/rotate-secret`, {})
    await api.post(`${at}/${reseller.body.connection_id}/rotate-secret`, { destination_secret: given.rotated })
    const channel = { project_id: projectId, name: 'x', events: ['run.failed'] }
    const slack = await api.post('/v1/alert-channels', {
      ...channel,
      config: { kind: 'slack', webhook_url: given.slack },
    })
    await api.patch(`/v1/alert-channels/${slack.body.channel_id}`, { config: { webhook_url: given.changedSlack } })
    const headers = { Authorization: given.header }
    const config = { kind: 'webhook', url: 'https://hooks.example.test/in', secret: given.webhook, headers }
    const webhook = await api.post('/v1/alert-channels', { ...channel, config })
    const webhookPath = `/v1/alert-channels/${webhook.body.channel_id}`
    await api.patch(webhookPath, { config: { headers: { Authorization: given.changedHeader } } })
    await api.post(`${webhookPath}/rotate-secret`, { secret: given.ownWebhookSecret })
    const rotation = { 'idempotency-key': `w-${projectId}` }
    const rotatedWebhook = await api.post(`${webhookPath}/rotate-secret`, {}, rotation)
    const apiKey = await api.post(
      '/v1/api-keys',
      { name: 'x', scopes: ['read'] },
      { 'idempotency-key': `k-${projectId}` },
    )

    // From here on nothing may tell any of them, whatever is asked.
    const since = world().transcript.length
    await api.post(at, processor, key)
    for (const path of [
      '/v1/projects',
      at,
      `/v1/alert-channels?project_id=${projectId}`,
      '/v1/api-keys',
      '/v1/openapi.json',
    ]) {
      await api.get(path)
    }
    await api.post(`${webhookPath}/rotate-secret`, {}, rotation)
    await api.patch(webhookPath, { config: { headers: { Host: given.header } } })
    await api.patch(webhookPath, { config: { url: `https://blocked.test/${given.slack}` } })
    await api.post(`${webhookPath}/rotate-secret`, { secret: [given.webhook] })
    await api.post(`${webhookPath}/test`)
    await api.post(at, { ...processor, signing_secret: given.signing, name: 7, unknown: given.readKey })
    await api.as(apiKey.body.key).post('/v1/projects', { name: 'not allowed' })
    const answers = world().transcript.slice(since).join('\n')
    const stored = await world().dump()
    const logged = world().log.join('')

    const secrets = {
      ...given,
      generated: generated.body.signing_secret as string,
      password: subscription.body.password as string,
      rotatedPassword: rotated.body.password as string,
      rotatedWebhookSecret: rotatedWebhook.body.secret as string,
      apiKey: apiKey.body.key as string,
      bootstrap: BOOTSTRAP_KEY,
    }
    for (const [name, secret] of Object.entries(secrets)) {
      expect(secret, name).toBeTypeOf('string')
      // The hash of an API key is what is stored of it; a hash of any other secret would be there to be guessed at.
      const isKey = name === 'apiKey' || name === 'bootstrap'
      for (const spelling of spellings(secret)) {
        const isHash = /^[0-9a-f]{64}$/.test(spelling) && spelling !== secret
        if (!(isKey && isHash)) expect({ name, isStored: stored.includes(spelling) }).toEqual({ name, isStored: false })
        expect({ name, isAnswered: answers.includes(spelling) }).toEqual({ name, isAnswered: false })
        expect({ name, isLogged: logged.includes(spelling) }).toEqual({ name, isLogged: false })
      }
    }
    // The test looked where the secrets would be.
    expect(stored).toContain(projectId)
    expect(logged).toContain('http.request')
    expect(answers).toContain('idempotency-replayed')
  })
}
