/**
 * A read key that was stored for one host must never be sent to another host. The test reads over real sockets with the stored
 * connection.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProviderKind } from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { createEgress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { listen } from '@backstop/kit/ops'
import { PROVIDERS } from '@backstop/providers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestProject } from './contract/test-project.ts'
import { secretBoxOfTests, startMemoryApi, type TestApi } from './test-api.ts'

const READ_KEY = 'rk_live_the_key_of_the_owner'
const logger = createLogger('test', 'silent')
const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger })

/** A host that records every byte of its requests. */
interface Host {
  readonly url: string
  readonly heard: () => string
  readonly server: Server
}

let testApi: TestApi
let own: Host
let other: Host
beforeEach(async () => {
  testApi = await startMemoryApi({ apiBaseHosts: ['127.0.0.0/8'] })
  own = await startHost()
  other = await startHost()
})
afterEach(async () => {
  await testApi.stop()
  for (const { server } of [own, other]) {
    server.closeAllConnections()
    server.close()
  }
})

async function startHost(): Promise<Host> {
  const chunks: Buffer[] = []
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}')
  })
  // The raw bytes are recorded, so that a key is found in any part of a request.
  server.on('connection', socket => socket.on('data', (chunk: Buffer) => void chunks.push(chunk)))
  await listen(server, 0, '127.0.0.1')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, server, heard: () => Buffer.concat(chunks).toString('latin1') }
}

/** Reads from the provider as the reconciler does, with the stored connection. */
async function readProvider(connectionId: string): Promise<void> {
  const connection = await testApi.stores.connections.find({ _id: connectionId })
  if (connection?.read_key == null || connection.status !== 'active') return
  const { kind, project_id, site, api_base } = connection
  const place = { collection: 'connections', field: 'read_key', id: connectionId, projectId: project_id } as const
  const reader = PROVIDERS[kind].readBack.open({
    readKey: secretBoxOfTests.open(connection.read_key.sealed, place),
    site,
    apiBase: api_base,
    egress,
    clock: systemClock,
    random: () => 0,
  })
  await reader.changes(null, Date.now() - 60_000)
}

/** True if a request to the host contains the key, plain or as the user name of basic authentication. */
const receivedKey = (host: Host, key: string) =>
  host.heard().includes(key) || host.heard().includes(Buffer.from(`${key}:`).toString('base64'))

const BODIES: Readonly<Record<ProviderKind, object>> = {
  processor: { kind: 'processor', name: 'C' },
  reseller: { kind: 'reseller', name: 'R', destination_secret: 'd'.repeat(20) },
  subscription: { kind: 'subscription', name: 'S', site: 'acme' },
}

test.each(Object.entries(BODIES))(
  'the read key of a %s never reaches the host of a changed api_base',
  async (_, body) => {
    const { projectId } = await createTestProject(testApi.api)
    const path = `/v1/projects/${projectId}/connections`
    const made = await testApi.api.post(path, { ...body, read_key: READ_KEY, api_base: own.url })
    const id: string = made.body.connection_id
    await readProvider(id)
    expect(receivedKey(own, READ_KEY)).toBe(true)

    const moved = await testApi.api.patch(`${path}/${id}`, { api_base: other.url })
    expect(moved).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'body.read_key' }] } })
    await readProvider(id)
    expect(other.heard()).toBe('')

    expect(
      (await testApi.api.patch(`${path}/${id}`, { api_base: other.url, read_key: 'rk_of_the_other' })).status,
    ).toBe(200)
    await readProvider(id)
    expect(receivedKey(other, 'rk_of_the_other')).toBe(true)
    expect(receivedKey(other, READ_KEY)).toBe(false)
  },
)
