import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../test/until.ts'
import { createMetrics } from './metrics.ts'
import { type OpsServer, startOpsServer } from './ops-server.ts'

let server: OpsServer | undefined
afterEach(() => server?.stop())

async function ask(path: string, faults: { live?: string; ready?: () => Promise<string | undefined> } = {}) {
  const metrics = createMetrics('test')
  metrics.counter('things_total', 'Things', ['kind']).inc({ kind: 'a' })
  const ready = faults.ready ?? (async () => undefined)
  server = await startOpsServer({ port: 0, host: '127.0.0.1', live: () => faults.live, ready, metrics })
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
  return { status: response.status, text: await response.text() }
}

describe('the ops server', () => {
  test('says ok when all is well', async () => {
    expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })
  })
  test('says why the process should be restarted', async () => {
    expect(await ask('/healthz', { live: 'Stuck' })).toEqual({ status: 503, text: 'Stuck\n' })
  })
  test('says why it should get no work', async () => {
    expect(await ask('/readyz', { ready: async () => 'MongoDB is unavailable' })).toEqual({
      status: 503,
      text: 'MongoDB is unavailable\n',
    })
  })
  test('a readiness check that fails is not ready and does not stop the process', async () => {
    expect(await ask('/readyz', { ready: () => Promise.reject(new Error('broken')) })).toMatchObject({ status: 503 })
  })
  test('shows metrics with the name of the service', async () => {
    expect((await ask('/metrics')).text).toContain('things_total{kind="a",service="test"} 1')
  })
  test.each(['/metrics', '/healthz', '/readyz'])(
    'answers a POST to %s with 405, what is allowed, and nothing else',
    async path => {
      await ask(path)
      const url = `http://127.0.0.1:${server?.port}${path}`
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await fetch(url, { method })
        expect(response.status).toBe(405)
        expect(response.headers.get('allow')).toBe('GET, HEAD')
        expect(await response.text()).toBe('Use GET\n')
      }
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
    },
  )
  test('closes connections that send nothing or drip a header, and serves at most 64 at once', async () => {
    await ask('/healthz')
    const sockets = Array.from({ length: 80 }, (_, index) => {
      const socket = connect(server?.port ?? 0, '127.0.0.1', () => void socket.write(index % 2 === 0 ? '' : 'GET /he'))
      const drip = setInterval(() => socket.write('a'), 500)
      socket.on('error', () => {}).on('close', () => clearInterval(drip))
      return socket
    })
    const open = () => sockets.filter(socket => !socket.closed).length
    await until('connections beyond 64 to be refused', async () => open() <= 64)
    await until('the other connections to be closed', async () => open() === 0)
    expect((await fetch(`http://127.0.0.1:${server?.port}/healthz`)).status).toBe(200)
  }, 30_000)
  test('lists its paths for an unknown path', async () => {
    expect((await ask('/')).status).toBe(404)
  })
})
