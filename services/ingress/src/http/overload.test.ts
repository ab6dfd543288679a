/** Refusals under overload are cheap for both sides, and never break the order or the number of answers. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Problem } from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { until } from '@backstop/kit/test'
import { afterEach, describe, expect, test } from 'vitest'
import { parseAnswer } from '../../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, startMemoryIngress } from '../../test/memory-ingress.ts'
import { ScriptedProducer } from '../../test/scripted-producer.ts'
import { watchTurns } from '../overload/turn-watch.ts'

let ingress: MemoryIngress
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await ingress.stop()
})

/** A load that the test sets. */
function settableLoad() {
  let isOverloaded = true
  const load = {
    judge: () =>
      isOverloaded ? ({ kind: 'overloaded', reason: 'event_loop_lag' } as const) : ({ kind: 'bearable' } as const),
  }
  return {
    load,
    begin() {
      isOverloaded = true
    },
    end() {
      isOverloaded = false
    },
  }
}

function requestOf(id: string, more = ''): string {
  const body = JSON.stringify(eventOf('processor', id))
  const [[name, value] = []] = Object.entries(credentialOf('processor', body))
  const head = `POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\n${name}: ${value}\r\n`
  return `${head}content-length: ${body.length}\r\n${more}\r\n${body}`
}

/** Connects a client that collects all received text. */
async function dial() {
  const socket = connect(ingress.app.port(), '127.0.0.1')
  sockets.push(socket)
  let heard = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.on('data', chunk => {
    heard += chunk
  })
  socket.on('close', () => {
    isClosed = true
  })
  await once(socket, 'connect')
  const statuses = () => [...heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)
  const untilAnswers = (count: number) => until(`${count} answers`, () => statuses().length >= count)
  return { socket, heard: () => heard, statuses, untilAnswers, isClosed: () => isClosed }
}

const storedIds = () => ingress.bus.stored('inbound.processor').map(({ headers }) => headers.event_id)

describe('a refusal under overload', () => {
  test('is a whole answer that keeps the socket open, so that the same socket is served afterwards', async () => {
    const { load, end } = settableLoad()
    ingress = await startMemoryIngress({ ports: { load } })
    const client = await dial()
    client.socket.write(requestOf('evt_1'))
    await client.untilAnswers(1)
    client.socket.write(requestOf('evt_2'))
    await client.untilAnswers(2)
    const { status, head, body } = parseAnswer(client.heard().slice(client.heard().lastIndexOf('HTTP/1.1')))
    expect(status).toBe(503)
    expect(head).toMatch(/^retry-after: 10$/im)
    expect(head).toMatch(/^connection: keep-alive$/im)
    expect(Problem.parse(JSON.parse(body)).code).toBe('overloaded')
    end()
    client.socket.write(requestOf('evt_3'))
    await client.untilAnswers(3)
    expect(client.statuses()).toEqual(['503', '503', '200'])
    expect(storedIds()).toEqual(['evt_3'])
  })

  test('drops a body that arrives later, and does not take it for a request', async () => {
    const { load, end } = settableLoad()
    ingress = await startMemoryIngress({ ports: { load } })
    const client = await dial()
    const request = requestOf('evt_1')
    const bodyAt = request.indexOf('\r\n\r\n') + 4
    client.socket.write(request.slice(0, bodyAt))
    await client.untilAnswers(1)
    end()
    client.socket.write(request.slice(bodyAt, bodyAt + 10))
    client.socket.write(request.slice(bodyAt + 10) + requestOf('evt_2'))
    await client.untilAnswers(2)
    expect(client.statuses()).toEqual(['503', '200'])
    expect(storedIds()).toEqual(['evt_2'])
  })

  test('waits for the answer to the request before it on the same socket', async () => {
    const { load, begin, end } = settableLoad()
    const producer = new ScriptedProducer()
    end()
    ingress = await startMemoryIngress({ ports: { load, bus: { producer: () => producer } } })
    const client = await dial()
    client.socket.write(requestOf('evt_1'))
    await until('the send', () => producer.sends.length === 1)
    begin()
    client.socket.write(requestOf('evt_2'))
    await until('the refusal is counted', async () => /reason="event_loop_lag".* 1$/m.test(await ingress.metrics()))
    expect(client.statuses()).toEqual([])
    producer.sends[0]?.ack()
    await client.untilAnswers(2)
    expect(client.statuses()).toEqual(['200', '503'])
  })

  test.each([
    { name: 'a body of unknown length', more: 'transfer-encoding: chunked\r\n' },
    { name: 'a long body', more: 'content-length: 65537\r\n' },
    { name: 'a client that asks before it sends its body', more: 'content-length: 10\r\nexpect: 100-continue\r\n' },
    { name: 'a client that wants it closed', more: 'content-length: 0\r\nconnection: close\r\n' },
  ])('closes the socket for $name', async ({ more }) => {
    ingress = await startMemoryIngress({ ports: { load: settableLoad().load } })
    const client = await dial()
    client.socket.write(`POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\n${more}\r\n`)
    await client.untilAnswers(1)
    expect(client.heard()).toMatch(/^HTTP\/1\.1 503 [\s\S]*^connection: close\r$/im)
    client.socket.end()
    await until('the close', client.isClosed)
    expect(client.statuses()).toEqual(['503'])
  })

  test('counts for the last request of a socket', async () => {
    ingress = await startMemoryIngress({ ports: { load: settableLoad().load } })
    const client = await dial()
    for (let count = 10; count <= 1_000; count += 10) {
      client.socket.write(requestOf('evt_1').repeat(10))
      await client.untilAnswers(count)
    }
    await until('the close', client.isClosed)
    expect(client.heard().match(/^connection: close/gim)).toHaveLength(1)
  })

  test('is counted by provider and by reason, and logged within a limit', async () => {
    ingress = await startMemoryIngress({ ports: { load: settableLoad().load } })
    const client = await dial()
    client.socket.write(requestOf('evt_1'))
    await client.untilAnswers(1)
    const metrics = await ingress.metrics()
    expect(metrics).toMatch(/^ingress_rejected_total\{reason="event_loop_lag",.*\} 1$/m)
    expect(metrics).toMatch(/^ingress_webhooks_total\{provider="processor",result="overloaded",.*\} 1$/m)
    expect(ingress.lines.at(-1)).toMatchObject({ msg: 'event.refused', status: 503, connection_id: 'con_processor' })
  })

  test('is not made for a path that does not exist', async () => {
    ingress = await startMemoryIngress({ ports: { load: settableLoad().load } })
    const client = await dial()
    client.socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
    await client.untilAnswers(1)
    expect(client.statuses()).toEqual(['404'])
  })
})

test('of a flood a part is accepted and stored, the rest is refused at once, and the next event is accepted', async () => {
  ingress = await startMemoryIngress({ ports: { load: watchTurns(2) } })
  const clients = await Promise.all(Array.from({ length: 200 }, dial))
  const answered = new Map<string, string | undefined>()
  for (let round = 1; round <= 5; round++) {
    for (const [index, { socket }] of clients.entries()) socket.write(requestOf(`evt_${round}_${index}`))
    await Promise.all(clients.map(({ untilAnswers }) => untilAnswers(round)))
    for (const [index, { statuses }] of clients.entries()) answered.set(`evt_${round}_${index}`, statuses()[round - 1])
  }
  const withStatus = (status: string) => [...answered].filter(([, of]) => of === status).map(([id]) => id)
  expect(withStatus('200').length + withStatus('503').length).toBe(1_000)
  expect(withStatus('200').length).toBeGreaterThan(0)
  expect(withStatus('503').length).toBeGreaterThan(0)
  expect(storedIds().sort()).toEqual(withStatus('200').sort())
  expect(await ingress.postEvent('processor', 'evt_after')).toMatchObject({ status: 200 })
})

test('events are refused before they wait too long for Kafka, and accepted again when it is quick', async () => {
  const producer = new ScriptedProducer()
  let passedMs = 0
  const clock = { ...systemClock, now: () => Date.now() + passedMs, isMeasured: () => true }
  const settings = { queueMaxWaitMs: 30 }
  ingress = await startMemoryIngress({ settings, ports: { clock, bus: { producer: () => producer } } })
  const slow = ingress.postEvent('processor', 'evt_slow')
  await until('the first send', () => producer.sends.length === 1)
  passedMs = 120
  producer.sends[0]?.ack()
  expect(await slow).toMatchObject({ status: 200 })

  // Three sends of 200 events are in flight, each of 120 ms, and more than one batch waits behind them.
  const clients = await Promise.all(Array.from({ length: 900 }, dial))
  for (const [index, { socket }] of clients.entries()) socket.write(requestOf(`evt_${index}`))
  const refused = () => clients.filter(({ statuses }) => statuses()[0] === '503').length
  await until('refusals', () => refused() > 0 && producer.sends.length === 4)
  expect(await ingress.metrics()).toMatch(/^ingress_rejected_total\{reason="queue_wait",.*\} [1-9]\d*$/m)
  producer.answer = () => undefined
  for (const send of producer.sends) send.ack()
  await Promise.all(clients.map(({ untilAnswers }) => untilAnswers(1)))
  expect(refused()).toBeLessThan(150)
  expect(await ingress.postEvent('processor', 'evt_after')).toMatchObject({ status: 200 })
})
