/** The ledger's timers and sweeper in a separate process, which a test kills. */

import { createKafkaBus } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { createFixedCodec } from '@backstop/kit/test'
import { openMongoBooks } from '../src/index.ts'
import { publishLedger } from '../src/published-ledger.ts'

const { BROKERS = '', TOPIC_PREFIX = '', MONGO = '', DB = '' } = process.env
const logger = createLogger('ledger', 'info')
const { db } = connectMongo({ url: new Secret(MONGO), dbName: DB, appName: 'ledger-process' })
const bus = createKafkaBus({
  brokers: BROKERS.split(','),
  clientId: 'ledger-process',
  topicPrefix: TOPIC_PREFIX,
  logger,
})
const producer = bus.producer({ sendTimeoutMs: 10_000 })
await producer.start()
const { announcer, approvalTimers } = publishLedger({
  open: options => openMongoBooks(db, options),
  producer,
  encoder: createFixedCodec(),
  clock: systemClock,
  logger,
})
announcer.start()
approvalTimers.start()
// Keeps the process alive until it is killed.
setInterval(() => {}, 60_000)
