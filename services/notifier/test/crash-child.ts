/**
 * A notifier in a process of its own, which a test kills at the point named in CRASH_AT. It uses the real parts of a
 * test stack, except the schema registry and everything that needs provisioning.
 */

import { flushCompileCache } from 'node:module'
import { noMailer } from '@backstop/channels/deliver'
import { secretBox } from '@backstop/channels/test'
import { createKafkaBus } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createEgress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec } from '@backstop/kit/test'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/start.ts'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'

const { BROKERS = '', TOPIC_PREFIX = '', MONGO = '', DB = '' } = process.env
const logger = createLogger('notifier', 'info')
const mongo = connectMongo({ url: new Secret(MONGO), dbName: DB, appName: 'crash-child' })
const app = createApp(
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
    ...openStores(mongo),
    egress: createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger }),
    mailer: noMailer,
    secretBox,
    logger,
    metrics: createMetrics('notifier'),
    canOpenSecrets: async () => true,
    isOverloaded: () => false,
    onFatal: error => {
      logger.fatal({ error }, 'fatal')
      process.exit(1)
    },
  },
  {
    publicUrl: null,
    apiPublicUrl: null,
    brandName: 'Backstop',
    maxActive: 100,
    maxQueuedPerChannel: 100,
    storms: DEFAULT_STORM_SETTINGS,
  },
)
await app.start()
// A killed process writes no cache of compiled code, which halves the start of the next one.
flushCompileCache()
// The notifier itself keeps no process alive. The timer does, until the test kills the process.
setInterval(() => {}, 60_000)
