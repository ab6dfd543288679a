import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { chooseProductPorts } from './product-ports.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-ports-'))
const path = join(folder, 'ports.json')
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  rmSync(path, { force: true })
})

async function occupyPort(port = 0): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('chooses the same ports at every start while they are free', async () => {
  const first = await chooseProductPorts(path, {})
  expect(first.inUse).toEqual({})
  expect(await chooseProductPorts(path, { ingress: 1 })).toEqual(first)
})

test('chooses a free port, and reports the preferred port, when another process uses it', async () => {
  const port = await occupyPort()
  const { ports, inUse } = await chooseProductPorts(path, { ingress: port })
  expect(ports.ingress).not.toBe(port)
  expect(inUse).toEqual({ ingress: port })
})

test('chooses a free port, and reports the port of the last start, when another process uses it', async () => {
  const { ports } = await chooseProductPorts(path, {})
  await occupyPort(ports['admin-api'])
  const second = await chooseProductPorts(path, { 'admin-api': 1 })
  expect(second.ports).toMatchObject({ ...ports, 'admin-api': expect.any(Number) })
  expect(second.inUse).toEqual({ 'admin-api': ports['admin-api'] })
})
