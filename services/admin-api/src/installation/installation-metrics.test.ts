import { systemClock } from '@backstop/kit/clock'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { expect, test } from 'vitest'
import { showInstallation } from './installation-metrics.ts'
import type { InstallationReaders } from './read-state.ts'
import type { InstallationState } from './rules/summarize.ts'

const none = { count: 0, oldestMs: 0 }
const state: InstallationState = {
  undecided: { count: 7, overdue: 2, waiting: 3, oldestMs: 95_000 },
  uncomparedOperations: { oldestMs: 124_000 },
  incidents: [{ code: 'FEED_SILENT', state: 'open', count: 3 }],
  stormsOpen: 1,
  connections: { counts: [], keyRejected: 4, unreadable: 5, silent: 6, sweepAgeMs: 600_000 },
  deadLetters: [
    { topic: 'operations', count: 1 },
    { topic: 'inbound.processor', count: 2 },
  ],
  deliveries: { pending: none, retrying: { count: 8, oldestMs: 61_000 }, dead: none },
  channels: [{ kind: 'slack', state: 'failing', count: 1 }],
  outboxes: [{ collection: 'subjects', count: 9, oldestMs: 31_000 }],
}

/** Readers that return the state, or fail for the named parts. */
const readersOf = (failing: readonly string[] = []) =>
  Object.fromEntries(
    Object.entries(state).map(([name, value]) => [
      name,
      async () => {
        if (failing.includes(name)) throw new Error('MongoDB is slow')
        return value
      },
    ]),
  ) as unknown as InstallationReaders

const samplesOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^installation_(\S+) (\S+)$/gm)].map(([, name = '', value]) => [
      name.replace(/,?service="test"/, '').replace('{}', ''),
      Number(value),
    ]),
  )

test('shows the state, and a zero for what there is none of', async () => {
  const metrics = createMetrics('test')
  showInstallation({ readers: readersOf(), metrics, clock: systemClock, logger: createLogger('test', 'fatal') })
  const samples = samplesOf(await metrics.text())
  expect(samples).toMatchObject({
    undecided_actions: 7,
    second_looks_overdue: 2,
    second_looks_waiting: 3,
    undecided_oldest_seconds: 95,
    uncompared_operations_oldest_seconds: 124,
    'incidents{code="FEED_SILENT",state="open"}': 3,
    'incidents{code="UNEXPECTED_ACTION",state="open"}': 0,
    storms_open: 1,
    connections_key_rejected: 4,
    connections_unreadable: 5,
    connections_silent: 6,
    sweep_age_seconds: 600,
    'dead_letters{topic="operations"}': 1,
    'dead_letters{topic="inbound.processor"}': 2,
    'dead_letters{topic="deliveries"}': 0,
    'deliveries{state="retrying"}': 8,
    'delivery_oldest_seconds{state="retrying"}': 61,
    'channels{kind="slack",health="failing"}': 1,
    'channels{kind="email",health="ok"}': 0,
    'outbox_documents{collection="subjects"}': 9,
    'outbox_oldest_seconds{collection="subjects"}': 31,
  })
})

test('shows nothing that it could not read', async () => {
  const metrics = createMetrics('test')
  const readers = readersOf(Object.keys(state))
  showInstallation({ readers, metrics, clock: systemClock, logger: createLogger('test', 'silent') })
  expect(samplesOf(await metrics.text())).toEqual({ read_failures_total: Object.keys(state).length })
})

test('shows the other parts if one cannot be read', async () => {
  const metrics = createMetrics('test')
  const readers = readersOf(['deadLetters'])
  showInstallation({ readers, metrics, clock: systemClock, logger: createLogger('test', 'silent') })
  const samples = samplesOf(await metrics.text())
  expect(samples).toMatchObject({
    read_failures_total: 1,
    undecided_actions: 7,
    storms_open: 1,
    'channels{kind="slack",health="failing"}': 1,
  })
  expect(Object.keys(samples).filter(name => name.startsWith('dead_letters'))).toEqual([])
})
