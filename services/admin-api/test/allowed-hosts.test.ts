import { afterEach, expect, test } from 'vitest'
import { type AdminWorld, openMemoryWorld } from './admin-world.ts'
import { openProject } from './contract/project-of-its-own.ts'

let world: AdminWorld
afterEach(() => world.stop())

test('a Slack channel may name a host that the operator allowed', async () => {
  world = await openMemoryWorld({ slackHosts: ['chat.example.test'] })
  const { projectId } = await openProject(world.api)
  const channel = (host: string) => ({
    project_id: projectId,
    name: 'Chat',
    events: ['run.failed'],
    config: { kind: 'slack', webhook_url: `https://${host}/hooks/x` },
  })
  expect((await world.api.post('/v1/alert-channels', channel('chat.example.test'))).status).toBe(201)
  expect((await world.api.post('/v1/alert-channels', channel('other.example.test'))).status).toBe(400)
})

test('an api_base may name a host that the operator allowed', async () => {
  world = await openMemoryWorld({ apiBaseHosts: ['*.mock.example.test'] })
  const { projectId } = await openProject(world.api)
  const connect = (api_base: string) =>
    world.api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'C', api_base })
  expect((await connect('https://cards.mock.example.test:8443/v1')).status).toBe(201)
  expect((await connect('https://mock.example.test')).status).toBe(400)
})
