import type { CreatedConnection } from '@backstop/contracts'
import { createKafkaBus } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { createMongoSchemaIds, createRegistryCodec, type MessageCodec } from '@backstop/kit/registry'
import { type Receiver, startReceiver } from '@backstop/simulator'
import { MongoClient } from 'mongodb'
import { createManagementApi } from '../../../scripts/start/management-api.ts'
import type { Product } from '../../../scripts/start/product.ts'
import { SERVICES } from '../../../scripts/start/service-environment.ts'
import type { ServiceProcess } from '../../../scripts/start/service-process.ts'
import { keyOf, operationOf, type Refund } from '../refunds.ts'
import { storeOperations } from '../store-operations.ts'

const PROJECTS = 5

/** A product with customers whose alerts go to one receiver. */
export interface Installation {
  /** The two processes of each service; empty without twins. */
  readonly pairs: readonly ServiceProcess[][]
  readonly connections: readonly CreatedConnection[]
  readonly receiver: Receiver
  readonly database: ReturnType<MongoClient['db']>
  /** Stores and publishes operations as the ledger does. */
  report(refunds: readonly Refund[]): Promise<void>
  stop(): Promise<void>
}

export interface InstallationOptions {
  /** True for a second process of each service. */
  readonly twins: boolean
  /** The number of billing connections, ten by default: ingress limits each to 500 events a second. */
  readonly connections?: number
}

export async function openInstallation(
  product: Product,
  { twins, connections: count = 10 }: InstallationOptions,
): Promise<Installation> {
  const pairs: ServiceProcess[][] = []
  for (const service of twins ? SERVICES : []) {
    pairs.push([product.children[service], await product.addInstance(service, `${service}-2`)])
  }
  const receiver = await startReceiver({ now: Date.now })
  const connections = await createCustomers(product, receiver.url, count)
  const client = new MongoClient(product.urls.mongo)
  const database = client.db(product.database)
  // In the database, because the API of an earlier release refuses the field.
  await database.collection('connections').updateMany({}, { $set: { burst_alarm: false }, $inc: { version: 1 } })
  const logger = createLogger('installation', 'warn', process.stderr)
  const { topicPrefix } = product
  const schemaIds = createMongoSchemaIds(database)
  const codec = await createRegistryCodec({ registryUrl: product.urls.registry, topicPrefix, schemaIds, logger })
  const bus = createKafkaBus({
    brokers: product.urls.kafka.split(','),
    clientId: 'installation',
    topicPrefix,
    logger,
  })
  const producer = bus.producer({ sendTimeoutMs: 30_000 })
  await producer.start()
  return {
    pairs,
    connections,
    receiver,
    database,
    async report(refunds) {
      await storeOperations(
        database,
        refunds.map(refund => operationOf(refund)),
      )
      await producer.send(refunds.map(refund => operationMessage(codec, refund)))
    },
    async stop() {
      await Promise.all([producer.stop(), receiver.stop(), client.close()])
    },
  }
}

async function createCustomers(product: Product, receiverUrl: string, count: number): Promise<CreatedConnection[]> {
  const api = createManagementApi(product.urls.admin, product.key)
  const connections: CreatedConnection[] = []
  for (let number = 0; number < PROJECTS; number += 1) {
    const project = await api.post<{ project_id: string }>('/v1/projects', { name: `Shop ${number}` })
    const path = `/v1/projects/${project.project_id}/connections`
    for (let index = number; index < count; index += PROJECTS) {
      const settings = { kind: 'processor', name: `Cards ${index}`, out_of_band: 'alert' }
      connections.push(await api.post<CreatedConnection>(path, settings))
    }
    await api.post('/v1/alert-channels', {
      project_id: project.project_id,
      name: 'Receiver',
      events: ['incident.opened'],
      config: { kind: 'webhook', url: `${receiverUrl}/alerts` },
    })
  }
  return connections
}

function operationMessage(codec: MessageCodec, refund: Refund) {
  const value = codec.encode('operation', operationOf(refund))
  return { topic: 'operations' as const, key: keyOf(refund), value, headers: {} }
}
