/** The whole reconciler with its parts in memory and a clock that the test controls. */
import type { Command, ConnectionDocument, Operation, Readback } from '@backstop/contracts'
import type { Egress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import type { Tracing } from '@backstop/kit/tracing'
import { openMemoryBooks } from '@backstop/ledger/test'
import { PROJECT } from '@backstop/verdict/test'
import { createApp } from '../src/app.ts'
import type { Inbox } from '../src/inbox/inbox-store.ts'
import { connectionOf } from './connection-of.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'
import { readingPorts, TEST_SETTINGS } from './reading-ports.ts'

/**
 * Starts a reconciler with one partition and one connection of the processor.
 * @param changeInbox wraps the reconciler's inbox
 * @param connection changed fields of the connection
 * @param egress how the provider is reached
 * @param tracing traces are off without it
 */
export async function startMemoryReconciler(
  connectionId: string,
  changeInbox: (inbox: Inbox) => Partial<Inbox> = () => ({}),
  connection: Partial<ConnectionDocument> = {},
  egress?: Egress,
  tracing?: Tracing,
) {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const codec = createFixedCodec()
  const stores = createMemoryStores()
  stores.contents.connections.set(connectionId, connectionOf(connectionId, connection))
  const logger = createLogger('test', 'silent')
  const metrics = createMetrics('reconciler')
  const app = createApp(
    {
      bus,
      codec,
      clock,
      stores: { ...stores, inbox: { ...stores.inbox, ...changeInbox(stores.inbox) } },
      openBooks: openMemoryBooks,
      logger,
      metrics,
      tracing,
      ...readingPorts(logger),
      ...(egress === undefined ? {} : { egress }),
      onFatal: error => {
        throw error
      },
    },
    TEST_SETTINGS,
  )
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  await app.start()
  return {
    clock,
    codec,
    bus,
    contents: stores.contents,
    /** Sends messages to the processor's topic, all with one key. */
    publish: (values: readonly Buffer[], headers: Record<string, string> = {}) =>
      producer.send(values.map(value => ({ topic: 'inbound.processor', key: `${PROJECT}/x`, value, headers }))),
    /** Sends provider answers to the topic `readbacks`. */
    answer: (readbacks: readonly Readback[]) =>
      producer.send(
        readbacks.map(readback => {
          const value = codec.encode('readback', readback)
          return { topic: 'readbacks', key: readback.connection_id, value, headers: {} }
        }),
      ),
    /** Sends an operation to the topic `operations`. */
    report: (operation: Operation) => {
      const value = codec.encode('operation', operation)
      return producer.send([{ topic: 'operations', key: `${PROJECT}/${operation.subject}`, value, headers: {} }])
    },
    /** Sends commands to the topic `commands`. */
    command: (commands: readonly Command[]) =>
      producer.send(
        commands.map(command => ({
          topic: 'commands',
          key: 'x',
          value: codec.encode('command', command),
          headers: {},
        })),
      ),
    /** The text of /metrics. */
    metrics: () => metrics.text(),
    dead: () => bus.stored('inbound.dead'),
    alerts: () => Promise.all(bus.stored('alerts').map(({ value }) => codec.decode('alert', value))),
    stop: () => app.stop(),
  }
}
