/** Live events of the client against the stream of the management API, over connections that are cut. */
import { startTcpProxy, type TcpProxy, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient, type LiveEvent, liveEvents } from '../../packages/client/src/index.ts'
import { storeIncident } from '../../services/admin-api/test/contract/incidents.contract.ts'
import { BOOTSTRAP_KEY, startMemoryApi, type TestApi } from '../../services/admin-api/test/test-api.ts'

let testApi: TestApi
let proxy: TcpProxy
let client: Client
beforeAll(async () => {
  testApi = await startMemoryApi()
  proxy = await startTcpProxy({ host: '127.0.0.1', port: testApi.app.port() })
  const { host, port } = proxy.address
  client = createClient({ baseUrl: `http://${host}:${port}`, key: BOOTSTRAP_KEY })
})
afterAll(async () => {
  await proxy?.stop()
  await testApi?.stop()
})

test('are resumed after each cut connection without loss or repeats, until the signal is aborted', async () => {
  const { project_id } = await client.projects.create({ name: 'Shop' })
  const stop = new AbortController()
  const seen: LiveEvent[] = []
  let breaks = 0
  const reading = (async () => {
    const options = { projectId: project_id, signal: stop.signal, onBreak: () => breaks++ }
    for await (const event of liveEvents(client, options)) seen.push(event)
  })()
  const stored: string[] = []
  const store = async () => stored.push((await storeIncident(testApi, project_id, 'con_1')).incident)
  const incidents = () => seen.flatMap(({ type, data }) => (type === 'incident' ? [data.incident_id] : []))
  // The stream begins now, so incidents before its beginning are not in it.
  await until('the stream to begin', async () => {
    await store()
    return incidents().length > 0
  })
  for (const round of [1, 2, 3]) {
    await store()
    proxy.cutAll()
    await store()
    await until('the stream to be resumed', () => breaks === round && incidents().includes(stored.at(-1) ?? ''), {
      timeoutMs: 20_000,
    })
  }
  stop.abort()
  await reading
  expect(incidents()).toEqual(stored.slice(stored.indexOf(incidents()[0] ?? '')))
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
  expect(seen.map(({ type }) => type)).not.toContain('reset')
})

test('are continued after the id of an earlier iteration', async () => {
  const { project_id: projectId } = await client.projects.create({ name: 'Shop' })
  const stop = new AbortController()
  const first = liveEvents(client, { projectId, signal: stop.signal })
  const begun = first.next()
  await until('the first event', async () => {
    await storeIncident(testApi, projectId, 'con_1')
    return Promise.race([begun.then(() => true), new Promise<false>(resolve => setTimeout(resolve, 50, false))])
  })
  const { value } = await begun
  await first.return(undefined)
  const { incident } = await storeIncident(testApi, projectId, 'con_1')
  for await (const event of liveEvents(client, { projectId, after: value?.id })) {
    expect(event.id > (value?.id ?? '')).toBe(true)
    if (event.type === 'incident' && event.data.incident_id === incident) break
  }
})

test('throw the problem when the key is refused', async () => {
  const { host, port } = proxy.address
  const stranger = createClient({ baseUrl: `http://${host}:${port}`, key: 'bsk_unknown' })
  await expect(liveEvents(stranger).next()).rejects.toMatchObject({ status: 401, code: 'unauthenticated' })
})
