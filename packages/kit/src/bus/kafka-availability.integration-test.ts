import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type KafkaProxy, startKafkaProxy } from '../../test/kafka-proxy.ts'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { createManualClock, type ManualClock } from '../../test/manual-clock.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { createKafkaAvailability, type KafkaAvailability } from './kafka-availability.ts'

let stack: TestStack
let proxy: KafkaProxy
let kafka: KafkaAvailability
beforeAll(async () => {
  stack = await testStack()
  proxy = await startKafkaProxy(stack.kafkaBrokers[0]!)
})
afterEach(async () => {
  await kafka.stop()
  proxy.mode = 'pass'
})
afterAll(async () => {
  await proxy.stop()
  await stack.close()
})

/** A process on a clock that runs only when the test moves it. */
function start() {
  const clock = createManualClock()
  const log = createCollectingLogger()
  const connection = stack.kafka({ translateAddress: proxy.translateAddress, logger: log.logger })
  kafka = createKafkaAvailability(connection, clock)
  kafka.start()
  return { clock, log }
}

const SILENT = /^Kafka has not answered for \d+ s: check the brokers and KAFKA_BROKERS$/

test('is a fault from the start until the first answer, however short the silence is', async () => {
  proxy.mode = 'refuse'
  const { clock } = start()
  expect(kafka.fault()).toMatch(SILENT)
  await clock.advance(2_000)
  expect(kafka.fault()).toContain('for 2 s')
  proxy.mode = 'pass'
  await untilAnswered(clock)
})

test('is no fault during the election of a leader, but is one after 15 s, and ends with an answer', async () => {
  const { clock, log } = start()
  await until('an answer', () => kafka.fault() === undefined)
  proxy.mode = 'refuse'
  proxy.cutAll()
  await clock.advance(10_000)
  await until('the failure of a question', () => log.count('kafka.silent') === 1)
  await clock.advance(14_999)
  expect(kafka.fault()).toBeUndefined()
  await clock.advance(1)
  expect(kafka.fault()).toMatch(SILENT)
  proxy.mode = 'pass'
  await untilAnswered(clock)
  expect(log.count('kafka.answered')).toBe(1)
})

function untilAnswered(clock: ManualClock): Promise<unknown> {
  return until('an answer', async () => {
    await clock.advance(1_000)
    return kafka.fault() === undefined
  })
}
