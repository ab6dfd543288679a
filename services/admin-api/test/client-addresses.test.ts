import { connect, type Socket } from 'node:net'
import { createNetworkMatcher } from '@backstop/kit/egress'
import { until } from '@backstop/kit/test'
import { afterEach, expect, test } from 'vitest'
import { createTestProject } from './contract/test-project.ts'
import { startMemoryApi, type TestApi } from './test-api.ts'

let testApi: TestApi
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await testApi.stop()
})

/** Returns the client address in the audit row of a change. */
async function auditedAddress(forwardedFor: string): Promise<string | null | undefined> {
  const { body } = await testApi.api.post('/v1/projects', { name: 'x' }, { 'x-forwarded-for': forwardedFor })
  return (await testApi.stores.audit.findAll({ target: body.project_id }))[0]?.address
}

test('X-Forwarded-For of an untrusted client is ignored', async () => {
  testApi = await startMemoryApi()
  expect(await auditedAddress('203.0.113.9')).toBe('127.0.0.1')
})

test('behind a trusted proxy the audit shows the last address that is no trusted proxy', async () => {
  testApi = await startMemoryApi({ sockets: { isTrustedProxy: createNetworkMatcher(['127.0.0.0/8', '10.0.0.0/8']) } })
  expect(await auditedAddress('203.0.113.9')).toBe('203.0.113.9')
  expect(await auditedAddress('192.0.2.1, 203.0.113.9, 10.1.2.3')).toBe('203.0.113.9')
  expect(await auditedAddress('not an address')).toBe('127.0.0.1')
})

test('the longest idle connection of an address is closed for its next connection', async () => {
  testApi = await startMemoryApi({ sockets: { maxPerAddress: 3 } })
  const open = () => {
    const socket = connect(Number(new URL(testApi.api.url).port), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    return socket
  }
  const first = open()
  const closed = new Promise(resolve => first.once('close', resolve))
  for (let count = 0; count < 5; count++) open()
  await closed
  expect((await testApi.api.get('/v1/projects')).status).toBe(200)
})

test('a client behind a trusted proxy with too many requests in flight gets 503 and a closed connection, and another client does not', async () => {
  testApi = await startMemoryApi({
    sockets: { isTrustedProxy: createNetworkMatcher(['127.0.0.0/8']), maxPerAddress: 1 },
    outcomeWaitMs: 3_000,
  })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const { projectId } = await createTestProject(testApi.api)
  const { body: channel } = await testApi.api.post('/v1/alert-channels', {
    project_id: projectId,
    name: 'Slow',
    events: ['run.failed'],
    config: { kind: 'webhook', url: 'https://hooks.example.test/x' },
  })
  testApi.setReceiverAnswer(undefined)
  const atWork = testApi.api.post(`/v1/alert-channels/${channel.channel_id}/test`, undefined, from('192.0.2.1'))
  const ask = (address: string) => testApi.api.call('GET', '/v1/projects', { headers: from(address) })
  const refused = await until('the first one to be at work', async () => {
    const answer = await ask('192.0.2.1')
    return answer.status === 503 ? answer : undefined
  })
  expect(refused.body.code).toBe('overloaded')
  expect(refused.headers.get('connection')).toBe('close')
  expect((await ask('192.0.2.2')).status).toBe(200)
  await atWork
})
