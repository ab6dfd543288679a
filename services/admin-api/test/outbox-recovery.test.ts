import { HEADERS, newId } from '@backstop/contracts'
import { createManualClock, createMemoryBus, type SendResult, until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createApiClient } from './api-client.ts'
import { createMemoryStores } from './memory-stores.ts'
import { BOOTSTRAP_KEY, createTestApp } from './test-api.ts'

/** Starts the API with a manual clock and a broker that the test controls. */
async function startApi() {
  const clock = createManualClock()
  let fate: SendResult = 'stored'
  const bus = createMemoryBus({ clock, sendResultOf: () => fate })
  const stores = createMemoryStores()
  const app = createTestApp({ bus, clock, stores })
  await app.start()
  const api = createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY)
  await until('the API to be ready', async () => app.unready() === undefined)
  const projectId = (await api.post('/v1/projects', { name: 'Shop' })).body.project_id as string
  const connection = await api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'Cards' })
  return {
    app,
    api,
    clock,
    projectId,
    brokerAnswers: (next: SendResult) => {
      fate = next
    },
    report: () =>
      api.post('/v1/operations', {
        connection_id: connection.body.connection_id,
        kind: 'refund',
        subject: newId('message'),
      }),
    publishedIds: () => bus.stored('operations').map(message => message.headers[HEADERS.messageId]),
  }
}

test('an operation that is reported while the broker is down is stored, and published when the broker is back', async () => {
  const { app, clock, brokerAnswers, report, publishedIds } = await startApi()
  brokerAnswers('refused')
  const { status, body } = await report()
  expect([status, body.state]).toEqual([201, 'requested'])
  expect(publishedIds()).toEqual([])
  await clock.advance(60_000)
  expect(publishedIds()).toEqual([])
  brokerAnswers('stored')
  await clock.advance(5_000)
  expect(publishedIds()).toEqual([`${body.operation_id}:1`])
  // The message has left the outbox, so it is not sent again.
  await clock.advance(60_000)
  expect(publishedIds()).toHaveLength(1)
  await app.stop()
})

test('a message whose ack was lost is sent again under the same id', async () => {
  const { app, clock, brokerAnswers, report, publishedIds } = await startApi()
  brokerAnswers('answer_lost')
  const { body } = await report()
  await clock.advance(1_000)
  brokerAnswers('stored')
  await clock.advance(40_000)
  expect(publishedIds()).toEqual([`${body.operation_id}:1`, `${body.operation_id}:1`])
  await app.stop()
})

test('the test of a channel says that the broker is unavailable, and when to retry', async () => {
  const { app, api, projectId, brokerAnswers } = await startApi()
  const config = { kind: 'email', to: ['a@b.test'] }
  const channel = await api.post('/v1/alert-channels', {
    project_id: projectId,
    name: 'x',
    events: ['run.failed'],
    config,
  })
  brokerAnswers('refused')
  const answer = await api.post(`/v1/alert-channels/${channel.body.channel_id}/test`)
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable', detail: 'Kafka is unavailable' } })
  expect(answer.headers.get('retry-after')).toBe('5')
  await app.stop()
})
