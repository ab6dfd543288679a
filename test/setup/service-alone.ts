/** Runs one service as a process with its own topics and database, without the other services. For tests and benchmarks. */
import { join } from 'node:path'
import { type Bus, createKafkaBus, type OutgoingMessage } from '@backstop/kit/bus'
import { Secret } from '@backstop/kit/config'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createMongoSchemaIds, createRegistryCodec, type MessageCodec } from '@backstop/kit/registry'
import type { StackUrls } from '@backstop/stack'
import { type ProductOptions, startProduct } from '../../scripts/start/product.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'
import type { ServiceProcess } from '../../scripts/start/service-process.ts'
import { cpuMsOf, scrape } from './metrics.ts'
import { removeData } from './product.ts'

/** The number of messages in one send. */
const SEND_AT_ONCE = 1_000

export interface ServiceAloneOptions {
  /** Unique on the stack: lower-case letters, digits and dashes. */
  readonly name: string
  readonly stack: StackUrls
  /** The parent of the folder with the service's logs. */
  readonly folder: string
  /** Settings that differ from those of `npm start`. */
  readonly env?: Record<string, string>
  /** True to keep topics and database at `close`, and to find them again by the same name. */
  readonly isKept?: boolean
  /** As of a product. */
  readonly provision?: ProductOptions['provision'] | undefined
}

/** One process of a service. */
export interface ServiceInstance {
  /** Starts the process and waits until it is ready. */
  start(): Promise<void>
  /** Milliseconds of processor time that the process has used so far. */
  cpuMs(): Promise<number>
  /** Resident memory of the process in bytes. */
  memoryBytes(): Promise<number>
  /** The part of the heap of JavaScript that is used, with garbage that is not collected yet, in bytes. */
  heapBytes(): Promise<number>
  /** The value of a metric's sample with these labels among others; NaN if there is none. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  /** Ends the process at once, as `kill -9` does. */
  kill(): Promise<void>
  /** Stops the process after it has finished its work in flight. */
  stop(): Promise<void>
}

export interface ServiceAlone extends ServiceInstance {
  readonly topicPrefix: string
  readonly mongo: Mongo
  readonly bus: Bus
  readonly codec: MessageCodec
  /** The base URL for clients; empty for a service without clients. */
  readonly url: string
  /** Creates one more process of the service, and does not start it. */
  createInstance(name: string): Promise<ServiceInstance>
  /** Publishes messages in order. */
  send(messages: readonly OutgoingMessage[]): Promise<void>
  /** Stops everything and deletes the topics and the database, unless they are kept. */
  close(): Promise<void>
}

export async function openServiceAlone(service: ServiceName, options: ServiceAloneOptions): Promise<ServiceAlone> {
  const { name, stack, folder, env = {}, isKept = false, provision } = options
  const product = await startProduct({
    dataDir: join(folder, name),
    env: process.env,
    stackUrls: stack,
    topicPrefix: isKept ? `${name}.` : `${name}-${Date.now().toString(36)}.`,
    serviceEnv: { [service]: env },
    only: [],
    ...(provision === undefined ? {} : { provision }),
  })
  const { topicPrefix, database } = product
  const child = product.children[service]
  const clientId = `${service}-alone`
  const logger = createLogger(clientId, 'warn', process.stderr)
  const mongo = connectMongo({ url: new Secret(stack.mongo), dbName: database, appName: clientId })
  const bus = createKafkaBus({ brokers: stack.kafka.split(','), clientId, topicPrefix, logger })
  const schemaIds = createMongoSchemaIds(mongo.db)
  const codec = await createRegistryCodec({ registryUrl: stack.registry, topicPrefix, schemaIds, logger })
  const producer = bus.producer({ sendTimeoutMs: 30_000 })
  await producer.start()
  return {
    topicPrefix,
    mongo,
    bus,
    codec,
    url: child.mainUrl ?? '',
    ...instanceOf(child),
    createInstance: async name => instanceOf(await product.createInstance(service, name)),
    async send(messages) {
      for (let at = 0; at < messages.length; at += SEND_AT_ONCE)
        await producer.send(messages.slice(at, at + SEND_AT_ONCE))
    },
    async close() {
      await producer.stop()
      await Promise.all([mongo.stop(), product.stop()])
      if (!isKept) await removeData(product)
    },
  }
}

function instanceOf(child: ServiceProcess): ServiceInstance {
  const metric: ServiceInstance['metric'] = async (name, labels) =>
    (await scrape(child.opsUrl)).value(name, labels) ?? Number.NaN
  return {
    async start() {
      child.start()
      await child.untilReady()
    },
    cpuMs: () => cpuMsOf(child.opsUrl),
    memoryBytes: () => metric('process_resident_memory_bytes'),
    heapBytes: () => metric('nodejs_heap_size_used_bytes'),
    metric,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
    stop: () => child.stop(30_000),
  }
}
