import type { MongoClient } from 'mongodb'
import type { Metrics } from '../ops/metrics.ts'

const BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 10]
/** Commands with their own label. All other commands share one, so that a new driver adds no series. */
const COMMANDS: ReadonlySet<string> = new Set([
  'abortTransaction',
  'aggregate',
  'bulkWrite',
  'commitTransaction',
  'count',
  'delete',
  'find',
  'findAndModify',
  'getMore',
  'hello',
  'insert',
  'ping',
  'update',
])

/**
 * Shows the connection pool and the commands of a MongoDB client. The pool is the first thing that a slow MongoDB exhausts.
 * Open the client with `monitorCommands`.
 */
export function observeMongo(client: MongoClient, metrics: Metrics): void {
  observePool(client, metrics)
  const commands = metrics.histogram(
    'mongo_command_duration_seconds',
    'Duration of commands; getMore includes the waits of change streams',
    ['command', 'outcome'],
    BUCKETS_S,
  )
  const record = (outcome: 'succeeded' | 'failed') => (event: { commandName: string; duration: number }) => {
    const command = COMMANDS.has(event.commandName) ? event.commandName : 'other'
    commands.observe({ command, outcome }, event.duration / 1000)
  }
  client.on('commandSucceeded', record('succeeded')).on('commandFailed', record('failed'))
}

function observePool(client: MongoClient, metrics: Metrics): void {
  const connections = metrics.gauge('mongo_pool_connections', 'Open connections to MongoDB', [])
  const inUse = metrics.gauge('mongo_pool_connections_in_use', 'Connections that run a command', [])
  const waiting = metrics.gauge('mongo_pool_waiting', 'Commands that wait for a connection', [])
  const checkouts = metrics.histogram(
    'mongo_pool_checkout_seconds',
    'How long commands waited for a connection',
    [],
    BUCKETS_S,
  )
  const failures = metrics.counter('mongo_pool_checkout_failures_total', 'Commands that got no connection', ['reason'])
  client
    .on('connectionCreated', () => connections.inc())
    .on('connectionClosed', () => connections.dec())
    .on('connectionCheckOutStarted', () => waiting.inc())
    .on('connectionCheckedOut', ({ durationMS }) => {
      waiting.dec()
      inUse.inc()
      checkouts.observe({}, durationMS / 1000)
    })
    .on('connectionCheckOutFailed', ({ reason }) => {
      waiting.dec()
      failures.inc({ reason })
    })
    .on('connectionCheckedIn', () => inUse.dec())
}
