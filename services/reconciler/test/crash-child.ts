/**
 * A reconciler in a separate process that a test kills, with the real parts of a test stack. CRASH_AT names the crash
 * point.
 */

import { flushCompileCache } from 'node:module'
import { createKafkaBus } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/stores.ts'
import { readingPorts, TEST_SETTINGS } from './reading-ports.ts'

const { BROKERS = '', TOPIC_PREFIX = '', MONGO = '', DB = '' } = process.env
const logger = createLogger('reconciler', 'info')
const mongo = connectMongo({ url: new Secret(MONGO), dbName: DB, appName: 'crash-child' })
await createApp(
  {
    bus: createKafkaBus({
      brokers: BROKERS.split(','),
      clientId: 'crash-child',
      topicPrefix: TOPIC_PREFIX,
      logger,
      sessionTimeoutMs: 6_000,
    }),
    codec: createFixedCodec(),
    clock: systemClock,
    stores: openStores(mongo),
    openBooks: options => openMongoBooks(mongo.db, options),
    logger,
    metrics: createMetrics('reconciler'),
    ...readingPorts(logger),
    onFatal: error => {
      logger.fatal({ error }, 'fatal')
      process.exit(1)
    },
  },
  // A second look that is due within the time of a test.
  { ...TEST_SETTINGS, recheckDelayMs: 1_000 },
).start()
// A killed process writes no cache of compiled code, which halves the start of the next one.
flushCompileCache()
// Keeps the process alive until it is killed.
setInterval(() => {}, 60_000)
