import { createManualClock, until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createApiClient } from './api-client.ts'
import { createMemoryStores } from './memory-stores.ts'
import { BOOTSTRAP_KEY, createTestApp } from './test-api.ts'

const MINUTE_MS = 60_000

async function startWithProject() {
  const clock = createManualClock()
  const stores = createMemoryStores()
  const app = createTestApp({ clock, stores })
  await app.start()
  const api = createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY)
  await until('the API to be ready', async () => app.unready() === undefined)
  const { project_id } = (await api.post('/v1/projects', { name: 'Shop' })).body
  return { clock, stores, app, api, project_id }
}

test('the audit shows once that the personal data of a deleted connection was erased, by whose request, and how much', async () => {
  const { clock, stores, app, api, project_id } = await startWithProject()
  const connections = `/v1/projects/${project_id}/connections`
  const { connection_id } = (await api.post(connections, { kind: 'processor', name: 'Cards' })).body
  const deletion = await api.call('DELETE', `${connections}/${connection_id}`)
  const progress = { _id: connection_id, project_id, cursor: 'case_9', cases: 12, bodies: 34, finished_at: null }
  const rows = async () =>
    (await api.get(`/v1/audit?target=${connection_id}`)).body.data.filter(
      ({ action }: { action: string }) => action === 'connection.erase',
    )

  await stores.erasures.put(progress)
  await clock.advance(10 * MINUTE_MS)
  expect(await rows()).toEqual([])
  const finishedAt = new Date(clock.now())
  await stores.erasures.put({ ...progress, finished_at: finishedAt })
  for (let round = 0; round < 2; round++) {
    await clock.advance(10 * MINUTE_MS + 5_000)
    expect(await rows()).toEqual([
      {
        audit_id: expect.stringMatching(/^aud_/),
        at: finishedAt.toISOString(),
        key_id: 'key_bootstrap',
        action: 'connection.erase',
        target: connection_id,
        project_id,
        request_id: deletion.headers.get('x-request-id'),
        address: '127.0.0.1',
        erased: { cases: 12, bodies: 34 },
        sequence: 4,
        previous_hash: expect.any(String),
        previous_at: expect.any(String),
        chained_at: expect.any(String),
        hash: expect.any(String),
        mac: expect.any(String),
      },
    ])
  }
  await app.stop()
})

test('the audit shows that a customer was erased when both services are done, and the request then loses the names', async () => {
  const { clock, stores, app, api, project_id } = await startWithProject()
  const path = `/v1/projects/${project_id}/person-erasures`
  const asked = await api.post(path, { email: 'ann@canary.example' })
  const { erasure_id: _id } = asked.body
  const rows = async () => (await api.get(`/v1/audit?target=${_id}`)).body.data
  const finished_at = new Date(clock.now())
  await stores.erasures.put({ _id, project_id, cursor: '', cases: 1, actions: 2, bodies: 3, finished_at })
  await clock.advance(10 * MINUTE_MS)
  expect(await rows()).toMatchObject([{ action: 'person_erasure.create' }])
  expect((await stores.personErasures.find({ _id }))?.person).not.toBeNull()
  await stores.deliveryErasures.put({ _id, project_id, deliveries: 4, finished_at: new Date(clock.now()) })
  // A stop after the row leaves the names, which the next run removes.
  const { change } = stores.personErasures
  stores.personErasures.change = async () => {
    throw new Error('stopped')
  }
  await clock.advance(10 * MINUTE_MS)
  expect((await stores.personErasures.find({ _id }))?.person).not.toBeNull()
  stores.personErasures.change = change
  for (let round = 0; round < 2; round++) {
    await clock.advance(10 * MINUTE_MS)
    const request_id = asked.headers.get('x-request-id')
    expect(await rows()).toMatchObject([
      { action: 'person_erasure.finish', request_id, erased: { cases: 1, actions: 2, bodies: 3, deliveries: 4 } },
      { action: 'person_erasure.create' },
    ])
    expect((await stores.personErasures.find({ _id }))?.person).toBeNull()
  }
  expect(JSON.stringify(await rows())).not.toMatch(/canary/i)
  await app.stop()
})
