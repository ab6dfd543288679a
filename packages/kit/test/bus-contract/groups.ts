import { expect, test } from 'vitest'
import type { Batch, IncomingMessage } from '../../src/bus/bus.ts'
import { until } from '../until.ts'
import { acceptAllInto, type BusUnderTest, contractSetUp, message, numbered, numberOf } from './set-up.ts'

/** The contract for consumer groups: members that join, share partitions and leave. */
export function groupContract(open: () => Promise<BusUnderTest>): void {
  const setUp = contractSetUp(open)

  test('after a restart of the group accepted messages are not delivered again, and the others are', async () => {
    const { producer, consume } = await setUp()
    await producer.send(numbered(10, 0, () => 'one-key'))
    const before: IncomingMessage[] = []
    const first = await consume({
      maxBatchMessages: 5,
      async onBatch({ messages }) {
        if (before.length > 0) return { accepted: 0, resumeAfterMs: 60_000 }
        before.push(...messages)
        return { accepted: messages.length }
      },
    })
    await until('five were taken', () => before.length === 5)
    await first.stop()
    const after: IncomingMessage[] = []
    await consume({ onBatch: acceptAllInto(after) })
    await until('the rest came', () => after.length === 5)
    expect(after.map(numberOf)).toEqual([5, 6, 7, 8, 9])
  })

  test('stop interrupts the batch in progress by its signal, waits for it and commits it', async () => {
    const { producer, consume, sumCommitted } = await setUp()
    await producer.send([message(0, 'one-key')])
    const atWork = Promise.withResolvers<Batch>()
    const finish = Promise.withResolvers<void>()
    const consumer = await consume({
      async onBatch(batch) {
        atWork.resolve(batch)
        await finish.promise
        return { accepted: 1 }
      },
    })
    const batch = await atWork.promise
    expect(batch.signal.aborted).toBe(false)
    const stopped = consumer.stop()
    await until('the signal is given', () => batch.signal.aborted)
    finish.resolve()
    await stopped
    expect(await sumCommitted()).toBe(1)
  })

  test('stop waits for handed-off messages, but not for those that were abandoned', async () => {
    const { producer, consume, sumCommitted } = await setUp()
    await producer.send(numbered(3, 0, () => 'one-key'))
    let batch: Batch | undefined
    const consumer = await consume({
      commit: 'completed',
      async onBatch(given) {
        batch = given
        return { accepted: given.messages.length }
      },
    })
    await until('all were handed out', () => batch?.messages.length === 3)
    const startedAt = performance.now()
    const stopped = consumer.stop()
    await until('the signal is given', () => batch!.signal.aborted)
    batch!.complete(batch!.messages[0]!)
    batch!.abandon(batch!.messages[1]!)
    batch!.abandon(batch!.messages[2]!)
    await stopped
    expect(performance.now() - startedAt).toBeLessThan(2_500)
    expect(await sumCommitted()).toBe(1)
  })

  test('two members share the partitions; nothing is lost when one comes and one goes', {
    timeout: 90_000,
  }, async () => {
    const { producer, consume, sumCommitted } = await setUp()
    const [one, two]: [IncomingMessage[], IncomingMessage[]] = [[], []]
    let sent = 0
    const send = async (count: number) => {
      await producer.send(numbered(count, sent))
      sent += count
    }
    const first = await consume({ maxBatchMessages: 5, onBatch: acceptAllInto(one) })
    await send(100)
    await until('the first works', () => one.length > 0)
    await consume({ maxBatchMessages: 5, onBatch: acceptAllInto(two) })
    const bothWork = async () => {
      await send(10)
      return two.length > 0
    }
    await until('the second works, too', bothWork, { timeoutMs: 40_000, everyMs: 100 })
    await send(100)
    await first.stop()
    await send(100)
    await until('all is committed', async () => (await sumCommitted()) === sent, { timeoutMs: 40_000, everyMs: 100 })
    expect(new Set([...one, ...two].map(numberOf)).size).toBe(sent)
  })
}
