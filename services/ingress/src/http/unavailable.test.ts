import { systemClock } from '@backstop/kit/clock'
import { unavailable } from '@backstop/kit/errors'
import { until } from '@backstop/kit/test'
import { afterEach, describe, expect, test } from 'vitest'
import { expectProblem } from '../../test/expect-problem.ts'
import { post } from '../../test/http-client.ts'
import {
  credentialOf,
  eventOf,
  type MemoryIngress,
  type SETTINGS,
  startMemoryIngress,
} from '../../test/memory-ingress.ts'
import { ScriptedProducer } from '../../test/scripted-producer.ts'

let ingress: MemoryIngress
afterEach(() => ingress.stop())

const OUTAGE_S = '30'
const LOAD_S = '10'
const reasons = () => ingress.lines.map(line => line.reason).filter(reason => reason !== undefined)
/** Starts an ingress with a producer whose sends the test answers. */
async function startWithScriptedProducer(settings: Partial<typeof SETTINGS> = {}) {
  const producer = new ScriptedProducer()
  ingress = await startMemoryIngress({ settings, ports: { bus: { producer: () => producer } } })
  return producer
}

describe('ingress before it is ready', () => {
  test('answers 503 until the connections were loaded once, and then works without a restart', async () => {
    let loaded = false
    ingress = await startMemoryIngress()
    const { isLoaded } = ingress.connections
    ingress.connections.isLoaded = () => loaded && isLoaded()
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 503, 'unavailable', OUTAGE_S)
    expect(reasons()).toEqual(['connections_not_loaded'])
    expect(ingress.app.unready()).toBe('The connections were not read from MongoDB yet')
    loaded = true
    expect(await ingress.postEvent('processor', 'evt_1')).toMatchObject({ status: 200 })
    expect(ingress.app.unready()).toBeUndefined()
  })

  test('answers 503 until its clock is measured, because it would check signatures by the wrong time', async () => {
    let measured = false
    const clock = { ...systemClock, isMeasured: () => measured }
    ingress = await startMemoryIngress({ ports: { clock } })
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 503, 'unavailable', OUTAGE_S)
    expect(ingress.app.unready()).toBe("The clock was not compared with MongoDB's yet")
    measured = true
    expect(await ingress.postEvent('processor', 'evt_1')).toMatchObject({ status: 200 })
  })

  test('answers the same for an unknown connection meanwhile', async () => {
    ingress = await startMemoryIngress()
    ingress.connections.isLoaded = () => false
    expectProblem(await post(`${ingress.base}/v1/webhooks/processor/con_x`, '{}'), 503, 'unavailable', OUTAGE_S)
  })

  test('answers 503 until its schema id is known', async () => {
    let known = false
    const codec = {
      schemaId() {
        if (!known) throw unavailable('The schema registry', undefined)
        return 7
      },
    }
    ingress = await startMemoryIngress({ ports: { codec } })
    expectProblem(await ingress.postEvent('reseller', 'evt_1'), 503, 'unavailable', OUTAGE_S)
    known = true
    expect(await ingress.postEvent('reseller', 'evt_1')).toMatchObject({ status: 200 })
  })
})

describe('ingress without its broker', () => {
  test('answers 503 after a failed send, then refuses at once, and recovers without a restart', async () => {
    let isDown = true
    ingress = await startMemoryIngress({ sendResultOf: () => (isDown ? 'refused' : 'stored') })
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 503, 'unavailable', OUTAGE_S)
    expectProblem(await ingress.postEvent('processor', 'evt_2'), 503, 'unavailable', OUTAGE_S)
    expect(reasons()).toEqual(['broker_unavailable', 'broker_unavailable'])
    expect(ingress.app.unready()).toBeUndefined()
    isDown = false
    await until('the first event after the outage', async () => {
      return (await ingress.postEvent('processor', 'evt_3')).status === 200
    })
    expect(ingress.bus.stored('inbound.processor').map(({ headers }) => headers.event_id)).toEqual(['evt_3'])
  })

  test('refuses unauthentic notifications as usual', async () => {
    ingress = await startMemoryIngress({ sendResultOf: () => 'refused' })
    await ingress.postEvent('processor', 'evt_1')
    expectProblem(await post(`${ingress.base}/v1/webhooks/processor/con_processor`, '{}'), 400, 'signature_rejected')
  })

  test('waits for a silent broker up to the publish timeout', async () => {
    const producer = await startWithScriptedProducer({ publishTimeoutMs: 200 })
    const began = performance.now()
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 503, 'unavailable', OUTAGE_S)
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(reasons()).toEqual(['not_acknowledged_in_time'])
    producer.sends[0]?.fail(unavailable('Kafka', new Error('No answer')))
  })

  test('never says 200 for an ack that was lost', async () => {
    ingress = await startMemoryIngress({ sendResultOf: () => 'answer_lost' })
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 503, 'unavailable', OUTAGE_S)
    expect(ingress.bus.stored('inbound.processor')).toHaveLength(1)
  })

  test('answers an internal error with 500 and logs it', async () => {
    const producer = await startWithScriptedProducer()
    producer.answer = () => new TypeError('a bug')
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 500, 'internal')
    expect(ingress.lines.at(-1)).toMatchObject({ level: 'error', msg: 'event.refused', error: { message: 'a bug' } })
  })
})

describe('ingress under overload', () => {
  test('refuses events when its queue is full', async () => {
    const producer = await startWithScriptedProducer({ queueMaxMessages: 1 })
    const first = ingress.postEvent('processor', 'evt_1')
    await until('the first send', () => producer.sends.length === 1)
    expectProblem(await ingress.postEvent('processor', 'evt_2'), 503, 'overloaded', LOAD_S)
    expect(reasons()).toEqual(['queue_full'])
    producer.sends[0]?.ack()
    expect(await first).toMatchObject({ status: 200 })
  })

  test('refuses a body when the memory for bodies is full', async () => {
    const producer = await startWithScriptedProducer({ bodiesMaxBytes: 1_000 })
    const first = ingress.postEvent('processor', 'evt_1')
    await until('the first send', () => producer.sends.length === 1)
    const body = JSON.stringify({ ...eventOf('processor', 'evt_2'), fill: 'x'.repeat(800) })
    const url = `${ingress.base}/v1/webhooks/processor/con_processor`
    expectProblem(await post(url, body, credentialOf('processor', body)), 503, 'overloaded', LOAD_S)
    expect(reasons()).toEqual(['body_budget_exhausted'])
    producer.sends[0]?.ack()
    await first
    producer.answer = () => undefined
    expect(await post(url, body, credentialOf('processor', body))).toMatchObject({ status: 200 })
  })

  test('refuses before it reads a body while the event loop cannot keep up', async () => {
    const load = { judge: () => ({ kind: 'overloaded', reason: 'event_loop_lag' }) as const }
    ingress = await startMemoryIngress({ ports: { load } })
    expectProblem(await ingress.postEvent('processor', 'evt_1'), 503, 'overloaded', LOAD_S)
    expect(ingress.lines.at(-1)).toMatchObject({ reason: 'event_loop_lag' })
    expect(ingress.lines.at(-1)).not.toHaveProperty('body_bytes')
  })
})

describe('ingress that stops', () => {
  test('finishes the requests in flight, closes their connections and accepts no new request', async () => {
    const producer = await startWithScriptedProducer()
    const inFlight = ingress.postEvent('processor', 'evt_1')
    await until('the send', () => producer.sends.length === 1)
    const stopping = ingress.stop()
    expect(ingress.app.unready()).toBe('The process is stopping')
    await expect(ingress.postEvent('processor', 'evt_2')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    producer.sends[0]?.ack()
    expect(await inFlight).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await stopping
  })
})
