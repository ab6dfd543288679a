import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { choosePorts, isPortFree } from './ports.ts'

const allFree = async () => true
const free =
  (...ports: number[]) =>
  async (port: number) =>
    ports.includes(port)
const oneAfterTheOther = (...ports: number[]) => {
  let at = 0
  return () => ports[at++ % ports.length]!
}

test('a wanted port is taken', async () => {
  expect(await choosePorts({ kafka: { wanted: 9092, remembered: 21_000 } }, allFree)).toEqual({ kafka: 9092 })
})

test('a wanted port that is in use is refused, and not replaced by another one', async () => {
  await expect(choosePorts({ kafka: { wanted: 9092 } }, free())).rejects.toThrow(
    'Port 9092, asked for kafka, is in use',
  )
})

test('a remembered port is taken again', async () => {
  expect(await choosePorts({ kafka: { remembered: 23_456 } }, allFree)).toEqual({ kafka: 23_456 })
})

test('a remembered port that something else uses by now is replaced', async () => {
  expect(await choosePorts({ kafka: { remembered: 23_456 } }, free(25_000), oneAfterTheOther(23_456, 25_000))).toEqual({
    kafka: 25_000,
  })
})

test('no port is given twice, and a wanted one is never given to another name first', async () => {
  const wishes = { kafka: {}, mongo: { remembered: 24_000 }, mail: { wanted: 24_000 } }
  const ports = await choosePorts(wishes, allFree, oneAfterTheOther(24_000, 24_001, 24_001, 24_002))
  expect(ports).toEqual({ kafka: 24_001, mongo: 24_002, mail: 24_000 })
})

test('it is an error when no port is free', async () => {
  await expect(choosePorts({ kafka: {} }, free())).rejects.toThrow('No free port')
})

test('chosen ports lie below those that systems use for outgoing connections', async () => {
  for (let round = 0; round < 50; round += 1) {
    const { kafka } = await choosePorts({ kafka: {} }, allFree)
    expect(kafka).toBeGreaterThanOrEqual(21_000)
    expect(kafka).toBeLessThan(30_000)
  }
})

test('a port that somebody listens on is not free', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  expect(await isPortFree(port)).toBe(false)
  server.close()
  await once(server, 'close')
  expect(await isPortFree(port)).toBe(true)
})
