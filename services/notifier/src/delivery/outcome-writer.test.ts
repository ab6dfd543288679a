import { alert } from '@backstop/channels/test'
import type { DeliveryDocument } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { sleep } from '@backstop/kit/clock'
import type { ConsumerMetrics } from '@backstop/kit/consume'
import { createLogger } from '@backstop/kit/logger'
import { createFixedCodec, createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import type { DeliveryJob } from '../jobs/delivery-job.ts'
import { OutcomeWriter } from './outcome-writer.ts'
import { outcomeOfAttempt } from './rules/outcome-of-attempt.ts'

/** How long the database takes to insert documents, in milliseconds. */
const INSERT_MS = 5

function setUp() {
  const clock = createManualClock()
  const inserts: number[] = []
  const deliveries = {
    async insertNew(documents: readonly DeliveryDocument[]) {
      if (documents.length > 0) inserts.push(documents.length)
      await sleep(clock, INSERT_MS)
      return new Set<string>()
    },
    record: async () => new Set<string>(),
  } as unknown as DeliveryStore
  const writer = new OutcomeWriter({
    deliveries,
    clock,
    health: { note: async () => [], disableFailing: async () => {} },
    producer: {} as Producer,
    codec: createFixedCodec(),
    logger: createLogger('test', 'silent'),
    consumerMetrics: {} as ConsumerMetrics,
    active: { isUnstored: () => true },
    onRecorded: () => {},
    onAbandoned: () => {},
    onRecovered: () => {},
    onFlushed: () => {},
    onFatal: error => {
      throw error
    },
  })
  let ended = 0
  const add = (count: number) => {
    for (let index = 0; index < count; index++) writer.add(endedAttempt(`del_${ended++}`, clock.now()))
  }
  return { clock, inserts, add }
}

function endedAttempt(id: string, atMs: number) {
  const sent = alert()
  const request = { delivery_id: id, channel_id: 'chn_1', project_id: sent.project_id, attempt: 1, test: false }
  const job: DeliveryJob = {
    request: { ...request, alert: sent },
    ...({ channelKind: 'webhook', orderingKey: id, firstAttemptAtMs: null, ladderAttemptsAtMs: [] } as const),
    ...{ isKnown: false, atOnce: false, isLateOnPurpose: false, goesAlone: false, digestGroup: null },
    ...{ receivedAtMs: atMs, messages: [] },
  }
  const facts = { deliveryId: id, channelKind: 'webhook', attempt: 1, test: false, firstAttemptAtMs: null } as const
  const answer = { kind: 'http', status: 200, retryAfter: null, body: '' } as const
  const times = { ladderAttemptsAtMs: [], startedAtMs: atMs, endedAtMs: atMs }
  return { job, outcome: outcomeOfAttempt({ ...facts, ...times, answer }) }
}

test('a few outcomes are recorded at once, also shortly after each other', async () => {
  const { clock, inserts, add } = setUp()
  for (let round = 0; round < 3; round++) {
    add(2)
    await clock.advance(INSERT_MS)
  }
  expect(inserts).toEqual([2, 2, 2])
})

test('many outcomes are gathered for some milliseconds', async () => {
  const { clock, inserts, add } = setUp()
  for (let ms = 0; ms < 100; ms++) {
    add(5)
    await clock.advance(1)
  }
  await clock.advance(100)
  expect(inserts.reduce((sum, count) => sum + count, 0)).toBe(500)
  expect(inserts.length).toBeLessThan(8)
})

test('a flood is not gathered for longer, because a crash repeats the attempts of all outcomes that are not recorded', async () => {
  const { clock, inserts, add } = setUp()
  add(20)
  await clock.advance(INSERT_MS)
  add(200)
  await clock.settle()
  expect(inserts).toEqual([20, 200])
})
