import { afterEach, expect, test } from 'vitest'
import { createTestProject } from './contract/test-project.ts'
import { startMemoryApi, type TestApi } from './test-api.ts'

let testApi: TestApi
afterEach(() => testApi.stop())

test('a Slack channel may name a host that the operator allowed', async () => {
  testApi = await startMemoryApi({ channelHosts: ['chat.example.test'] })
  const { projectId } = await createTestProject(testApi.api)
  const channel = (host: string) => ({
    project_id: projectId,
    name: 'Chat',
    events: ['run.failed'],
    config: { kind: 'slack', webhook_url: `https://${host}/hooks/x` },
  })
  expect((await testApi.api.post('/v1/alert-channels', channel('chat.example.test'))).status).toBe(201)
  expect((await testApi.api.post('/v1/alert-channels', channel('other.example.test'))).status).toBe(400)
})

test('an api_base may name a host that the operator allowed', async () => {
  testApi = await startMemoryApi({ apiBaseHosts: ['*.mock.example.test'] })
  const { projectId } = await createTestProject(testApi.api)
  const connect = (api_base: string) =>
    testApi.api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'C', api_base })
  expect((await connect('https://cards.mock.example.test:8443/v1')).status).toBe(201)
  expect((await connect('https://mock.example.test')).status).toBe(400)
})
