import { systemClock } from '@backstop/kit/clock'
import { createMemoryBus } from '@backstop/kit/test'
import { afterEach, expect, test } from 'vitest'
import { createTestKey, createTestProject } from './contract/test-project.ts'
import { createMemoryStores } from './memory-stores.ts'
import { idleInstallation, startTestApi, type TestApi } from './test-api.ts'

let testApi: TestApi
afterEach(() => testApi.stop())

test('the work that waits is counted for a key for all projects only', async () => {
  const stores = createMemoryStores()
  testApi = await startTestApi({
    stores,
    bus: createMemoryBus({ clock: systemClock }),
    installation: {
      ...idleInstallation,
      undecided: async () => ({ count: 7, overdue: 2, waiting: 3, oldestMs: 95_000 }),
      outboxes: async () => [
        { collection: 'subjects', count: 9, oldestMs: 31_000 },
        { collection: 'operations', count: 1, oldestMs: 500 },
      ],
      connections: async () => ({ counts: [], keyRejected: 1, unreadable: 2, silent: 3, sweepAgeMs: 600_000 }),
    },
  })
  const none = { count: 0, oldest_seconds: 0 }
  expect((await testApi.api.get('/v1/installation')).body).toEqual({
    verdicts: { count: 7, oldest_seconds: 95, overdue: 2, waiting_for_provider: 3 },
    deliveries: { pending: none, retrying: none },
    messages: { count: 10, oldest_seconds: 31 },
    providers: { key_rejected: 1, unreadable: 2, silent: 3, sweep_age_seconds: 600 },
  })
  const { projectId } = await createTestProject(testApi.api)
  const ofProject = testApi.api.withKey(await createTestKey(testApi.api, ['admin'], projectId))
  expect(await ofProject.get('/v1/installation')).toMatchObject({ status: 403 })
})

test('the processes of all services are listed for a key for all projects only', async () => {
  const stores = createMemoryStores()
  const at = new Date()
  const keys = [{ key_id: 'k1', fingerprint: '0123456789abcdef' }]
  const reported = { service: 'ingress', version: '1.2.3', started_at: at, reported_at: at, keys } as const
  await stores.processes.insert({ _id: 'pod-1', ...reported, unready: 'The process is stopping', clock_ahead_ms: -7 })
  testApi = await startTestApi({
    stores,
    bus: createMemoryBus({ clock: systemClock }),
  })
  expect((await testApi.api.get('/v1/processes')).body).toEqual({
    processes: [
      {
        process_id: 'pod-1',
        ...reported,
        started_at: at.toISOString(),
        reported_at: at.toISOString(),
        state: 'not_ready',
        unready: 'The process is stopping',
        clock_ahead_ms: -7,
      },
    ],
  })
  const { projectId } = await createTestProject(testApi.api)
  const ofProject = testApi.api.withKey(await createTestKey(testApi.api, ['admin'], projectId))
  expect(await ofProject.get('/v1/processes')).toMatchObject({ status: 403 })
})
