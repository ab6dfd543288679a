/**
 * Kills the reconciler with SIGKILL at each crash point of a command, starts it again, and checks the broker and the
 * database. The crash points of a refund are tested in test/faults/crash-points.system-test.ts.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Command, type IncidentDocument, incidentAlertId } from '@backstop/contracts'
import { createFixedCodec, readAll, type TestStack, testStack, until } from '@backstop/kit/test'
import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, test } from 'vitest'
import { RECONCILER_COMMAND_CRASH_POINTS } from '../src/crash-points.ts'

const CHILD = fileURLToPath(new URL('crash-child.ts', import.meta.url))
const codec = createFixedCodec()
const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

function startChild(stack: TestStack, crashAt?: string) {
  let output = ''
  const child = spawn(process.execPath, [CHILD], {
    env: {
      PATH: process.env.PATH,
      BROKERS: stack.kafkaBrokers.join(','),
      TOPIC_PREFIX: stack.topicPrefix,
      MONGO: stack.mongoUrl.reveal(),
      DB: stack.dbName,
      ...(crashAt === undefined ? {} : { CRASH_AT: crashAt }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const died = new Promise<NodeJS.Signals | null>(resolve => child.once('exit', (_code, signal) => resolve(signal)))
  cleanUps.push(async () => child.kill('SIGKILL'))
  return { died, output: () => output }
}

const disabled: Command = {
  kind: 'open_channel_incident',
  command_id: 'cmd_1',
  project_id: 'prj_1',
  requested_at: '2026-11-21T10:00:00.000Z',
  incident_id: 'inc_1',
  channel_id: 'chn_1',
  channel_name: 'Ops',
  reason: 'The receiver answered 410 Gone',
}

describe.concurrent('killed and started again', { timeout: 240_000 }, () => {
  test.each(RECONCILER_COMMAND_CRASH_POINTS)(
    'at %s, the reconciler alerts about the channel, with one id',
    async point => {
      const stack = await testStack()
      cleanUps.push(() => stack.close())
      await stack.createTopics(
        [
          'inbound.processor',
          'operations',
          'rechecks',
          'rechecks.due',
          'rechecks.unanswered',
          'rereads',
          'rereads.retry',
          'readbacks',
          'commands',
          'incidents',
          'alerts',
          'inbound.dead',
        ],
        1,
      )
      const client = new MongoClient(stack.mongoUrl.reveal())
      cleanUps.push(() => client.close())
      const incidents = client.db(stack.dbName).collection<IncidentDocument>('incidents')
      const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
      await producer.start()
      cleanUps.push(() => producer.stop())

      const doomed = startChild(stack, point)
      await producer.send([{ topic: 'commands', key: 'chn_1', value: codec.encode('command', disabled), headers: {} }])
      const signal = await Promise.race([
        doomed.died,
        until(`the crash at ${point}`, () => false, { timeoutMs: 90_000, seen: doomed.output }),
      ])
      expect(signal, doomed.output()).toBe('SIGKILL')

      startChild(stack)
      const told = async () => (await incidents.findOne({ _id: 'inc_1' }))?.outbox?.length === 0
      await until('the incident is told', told, { timeoutMs: 60_000 })
      const alerts = await readAll(stack, 'alerts', all => all.length >= 1)
      const decoded = await Promise.all(alerts.map(({ value }) => codec.decode('alert', value)))
      expect(new Set(decoded.map(alert => alert.alert_id))).toEqual(
        new Set([incidentAlertId('inc_1', 'incident.opened')]),
      )
    },
  )
})
