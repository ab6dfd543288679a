import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { BOOTSTRAP_KEY, type TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

/** The encodings in which a secret could be stored or logged. */
function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  // In a longer text, the base64 of a secret depends on its offset modulo 3, so the middle part is searched for at all three offsets.
  const shifted = [0, 1, 2].map(shift => bytes.subarray(shift).toString('base64').replace(/=+$/, '').slice(0, -2))
  return [secret, bytes.toString('hex'), createHash('sha256').update(bytes).digest('hex'), ...shifted]
}

export function describeSecrets(testApi: () => TestApi): void {
  test('no secret is ever answered again, stored in plain text or logged', async () => {
    const { api } = testApi()
    const { projectId } = await createTestProject(api)
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
      discord: 'https://discord.com/api/webhooks/129/canaryofdiscord',
      changedDiscord: 'https://discord.com/api/webhooks/129/canaryofachangeddiscord',
      teams: 'https://prod-1.westeurope.logic.azure.com/workflows/a1/invoke?sig=canaryofteams',
      changedTeams: 'https://prod-1.westeurope.logic.azure.com/workflows/a1/invoke?sig=canaryofachangedteams',
      routingKey: 'canary0ofrouting0key000000000000',
      changedRoutingKey: 'canary0ofachanged0key00000000000',
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
    const discord = await api.post('/v1/alert-channels', {
      ...channel,
      config: { kind: 'discord', webhook_url: given.discord },
    })
    await api.patch(`/v1/alert-channels/${discord.body.channel_id}`, { config: { webhook_url: given.changedDiscord } })
    const teams = await api.post('/v1/alert-channels', {
      ...channel,
      config: { kind: 'teams', webhook_url: given.teams },
    })
    await api.patch(`/v1/alert-channels/${teams.body.channel_id}`, { config: { webhook_url: given.changedTeams } })
    const pager = await api.post('/v1/alert-channels', {
      ...channel,
      config: { kind: 'pagerduty', routing_key: given.routingKey },
    })
    await api.patch(`/v1/alert-channels/${pager.body.channel_id}`, { config: { routing_key: given.changedRoutingKey } })
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

    // From here on, no answer may contain any of the secrets.
    const since = testApi().transcript.length
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
    await api.withKey(apiKey.body.key).post('/v1/projects', { name: 'not allowed' })
    const answers = testApi().transcript.slice(since).join('\n')
    const stored = await testApi().dump()
    const logged = testApi().log.join('')

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
      // API keys are stored as hashes. A hash of any other secret would be stored for no purpose and could be guessed.
      const isKey = name === 'apiKey' || name === 'bootstrap'
      for (const spelling of encodingsOf(secret)) {
        const isHash = /^[0-9a-f]{64}$/.test(spelling) && spelling !== secret
        if (!(isKey && isHash)) expect({ name, isStored: stored.includes(spelling) }).toEqual({ name, isStored: false })
        expect({ name, isAnswered: answers.includes(spelling) }).toEqual({ name, isAnswered: false })
        expect({ name, isLogged: logged.includes(spelling) }).toEqual({ name, isLogged: false })
      }
    }
    // Shows that the test searched the stored data.
    expect(stored).toContain(projectId)
    expect(logged).toContain('http.request')
    expect(answers).toContain('idempotency-replayed')
  })
}
