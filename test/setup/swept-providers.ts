/**
 * A reconciler without the other services that sweeps many connections. Some of the providers answer, the others fail in six
 * ways.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConnectionDocument } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import type { StackUrls } from '@backstop/stack'
import { openBlackHole } from '../../packages/kit/test/black-hole.ts'
import { FEW_PARTITIONS } from './product.ts'
import { openServiceAlone } from './service-alone.ts'

/** The number of connections by the way in which their provider fails. */
const DEAD = { silent: 60, down: 40, limited: 40, dripping: 20, refused: 20, unrouted: 20 }
export const DEAD_COUNT = Object.values(DEAD).reduce((sum, count) => sum + count, 0)
export const ALIVE_COUNT = 50

const KEYS = `swept:${Buffer.alloc(32, 5).toString('base64')}`
const DAY_MS = 86_400_000
/** Milliseconds that a working provider takes to answer a request for a page. */
const ANSWER_MS = 30

export interface SweptProviders {
  /** Starts the reconciler's process. */
  start(): Promise<void>
  /** Drops the counted sweeps, except the last sweep of each connection. */
  dropCounted(): void
  /** Drops every counted and stored sweep, so that the next process sweeps all connections for the first time. */
  clear(): Promise<void>
  /** Milliseconds between the sweeps of the connections whose provider answers. */
  intervalsMs(): number[]
  /** The number of swept connections whose provider answers. */
  sweptCount(): number
  stop(): Promise<void>
  close(): Promise<void>
}

export interface SweptProvidersOptions {
  readonly name: string
  readonly stack: StackUrls
  readonly folder: string
  readonly hasDead: boolean
  /** Milliseconds between two sweeps of one connection. */
  readonly everyMs: number
}

export async function openSweptProviders(options: SweptProvidersOptions): Promise<SweptProviders> {
  const sweeps = new Map<string, number[]>()
  const server = createServer((request, response) => {
    const [, kind = '', id = '', ...path] = (request.url ?? '').split('?')[0]?.split('/') ?? []
    if (kind === 'alive' && path.at(-1) === 'refunds') sweeps.set(id, [...(sweeps.get(id) ?? []), performance.now()])
    ANSWERS[kind]?.(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const closed = await closedPort()
  const hole = await openBlackHole(closed)
  const bases: Record<string, string> = {
    refused: `http://127.0.0.1:${closed}`,
    unrouted: `http://${hole.address.includes(':') ? `[${hole.address}]` : hole.address}:${closed}`,
  }
  const alone = await openServiceAlone('reconciler', {
    ...options,
    provision: FEW_PARTITIONS,
    env: { SECRET_KEYS: KEYS, SWEEP_EVERY_MS: String(options.everyMs), EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128' },
  })
  const kinds = Object.entries({ ...(options.hasDead ? DEAD : {}), alive: ALIVE_COUNT })
  const connections = kinds.flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => connectionOf(kind, index, bases[kind] ?? `${base}/${kind}/${index}`)),
  )
  await alone.mongo.db.collection<ConnectionDocument>('connections').insertMany(connections)
  return {
    start: () => alone.start(),
    dropCounted() {
      for (const [id, times] of sweeps) sweeps.set(id, times.slice(-1))
    },
    async clear() {
      sweeps.clear()
      await alone.mongo.db.collection('sweeps').deleteMany({})
    },
    intervalsMs: () =>
      [...sweeps.values()].flatMap(times => times.slice(1).map((at, index) => at - (times[index] ?? at))),
    sweptCount: () => sweeps.size,
    stop: () => alone.stop(),
    async close() {
      await alone.close()
      await hole.stop()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const EMPTY_PAGE = JSON.stringify({ object: 'list', data: [], has_more: false })

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  alive: response => void setTimeout(() => response.writeHead(200).end(EMPTY_PAGE), ANSWER_MS),
  silent: () => {},
  down: response => void response.writeHead(503).end(),
  limited: response => void response.writeHead(429, { 'retry-after': '3600' }).end(),
  dripping(response) {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 100)
    response.once('close', () => clearInterval(timer))
  },
}

function connectionOf(kind: string, index: number, apiBase: string): ConnectionDocument {
  const [_id, project_id] = [`con_${kind}_${index}`, `prj_${kind}_${index}`]
  const context = { collection: 'connections', field: 'read_key', id: _id, projectId: project_id } as const
  const madeAt = new Date(Date.now() - DAY_MS)
  return {
    _id,
    project_id,
    kind: 'processor',
    name: _id,
    out_of_band: 'alert',
    status: 'active',
    inbound_secrets: [],
    read_key: {
      sealed: createSecretBox(parseKeyRing(new Secret(KEYS))).seal(new Secret('rk_test_swept'), context),
      fingerprint: 'f',
      created_at: madeAt,
      expires_at: null,
    },
    site: null,
    api_base: apiBase,
    version: 1,
    created_at: madeAt,
    updated_at: madeAt,
    deleted_at: null,
  }
}

/** A loopback port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
