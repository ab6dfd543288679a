/** The simulated Kafka passes the contract of the bus, which runs on the real one too. */
import { expect, test } from 'vitest'
import { sleep, systemClock } from '../../src/clock/index.ts'
import { busContract } from '../bus.contract.ts'
import { createManualClock } from '../manual-clock.ts'
import { PERFECT_WIRE, type Wire } from '../simulated-mongo/index.ts'
import { Broker } from './broker.ts'

busContract('simulated', async () => {
  const broker = new Broker(systemClock, 2)
  return {
    bus: broker.openBus({ wire: PERFECT_WIRE, clock: systemClock }),
    committed: async (groupId, topic) => {
      const { committed } = broker.group(groupId)
      return new Map([0, 1].map(partition => [partition, committed.get(`${topic}/${partition}`)]))
    },
  }
})

test('a commit that reaches the coordinator after a rebalance is refused, and repeated', async () => {
  const clock = createManualClock()
  const broker = new Broker(clock, 1)
  const wayMs: Record<string, number> = { 'group.commit': 30, 'group.joinGroup': 60 }
  const wire: Wire = {
    ...PERFECT_WIRE,
    async call(command, act) {
      await sleep(clock, wayMs[command.name] ?? 0)
      return act()
    },
  }
  const bus = broker.openBus({ wire, clock })
  const group = broker.group('group')
  const held: (() => void)[] = []
  const consumer = bus.consumer({
    ...{ groupId: 'group', topics: ['rechecks'], commit: 'completed' },
    async onBatch({ messages, complete }) {
      held.push(...messages.map(message => () => complete(message)))
      return { accepted: messages.length }
    },
    onFatal: error => {
      throw error
    },
  })
  await consumer.start()
  const message = { topic: 'rechecks', key: 'k', value: Buffer.from('x'), headers: {} } as const
  const sent = bus.producer({ sendTimeoutMs: 1_000 }).send([message, message])
  await clock.advance(1_000)
  await sent
  group.atNextCommit(() => group.rebalance())
  for (const complete of held) complete()
  await clock.advance(1_000)
  expect(group.committed.get('rechecks/0')).toBe(2n)
})
