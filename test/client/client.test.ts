/** The client against the management API, in memory. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiProblem, type Client, createClient } from '../../packages/client/src/index.ts'
import { BOOTSTRAP_KEY, startMemoryApi, type TestApi } from '../../services/admin-api/test/test-api.ts'

let testApi: TestApi
let client: Client
beforeAll(async () => {
  testApi = await startMemoryApi()
  client = createClient({ baseUrl: `http://127.0.0.1:${testApi.app.port()}`, key: BOOTSTRAP_KEY })
})
afterAll(() => testApi.stop())

test('creates, reads, changes and lists resources, page by page', async () => {
  const created: string[] = []
  for (const name of ['A', 'B', 'C']) created.push((await client.projects.create({ name })).project_id)
  const [first = ''] = created
  const project = await client.projects.get(first)
  expect(project.name).toBe('A')
  const changed = await client.projects.change(first, { name: 'A2' }, { ifVersion: project.version })
  expect(changed).toMatchObject({ name: 'A2', version: project.version + 1 })
  const listed: string[] = []
  for await (const { project_id } of client.projects.list({ limit: 2 })) listed.push(project_id)
  expect(listed).toEqual(expect.arrayContaining(created))
})

test('refuses a change of an older version with the code precondition_failed', async () => {
  const { project_id, version } = await client.projects.create({ name: 'Shop' })
  await client.projects.change(project_id, { name: 'Shop 2' }, { ifVersion: version })
  await expect(client.projects.change(project_id, { name: 'Shop 3' }, { ifVersion: version })).rejects.toMatchObject({
    code: 'precondition_failed',
    status: 412,
  })
})

test('throws the problem with the refused fields', async () => {
  const thrown = await client.projects.create({ name: '' }).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(ApiProblem)
  expect(thrown).toMatchObject({ code: 'invalid_request', errors: [{ path: 'body.name' }] })
})

test('a repeat with the same idempotency key creates nothing twice', async () => {
  const create = () => client.projects.create({ name: 'Once' }, { idempotencyKey: 'once-1' })
  expect((await create()).project_id).toBe((await create()).project_id)
})

test('deletes without an answer', async () => {
  const { project_id } = await client.projects.create({ name: 'Shop' })
  const connection = await client.connections.create(project_id, { kind: 'processor', name: 'Cards' })
  expect(await client.connections.delete(project_id, connection.connection_id)).toBeUndefined()
})
