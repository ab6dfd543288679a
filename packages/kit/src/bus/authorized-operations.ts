import { createRequire } from 'node:module'
import type { Kafka } from 'kafkajs'
import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs/client.ts'

/** Operations that a user may do, as bits: bit n is the operation n of Kafka's AclOperation. */
export type OperationBits = number
export const READ: OperationBits = 1 << 3
export const WRITE: OperationBits = 1 << 4

/** What the broker lets the user of a connection do, by the names at the broker. A name without an answer is left out. */
export interface AuthorizedOperations {
  readonly topics: ReadonlyMap<string, OperationBits>
  readonly groups: ReadonlyMap<string, OperationBits>
}

/** The members of kafkajs 2.2.4 that are used here. */
interface Cluster {
  connect(): Promise<void>
  disconnect(): Promise<void>
  readonly brokerPool: { findConnectedBroker(): Promise<Broker> }
  findGroupCoordinator(options: { groupId: string }): Promise<Broker>
}
interface Broker {
  readonly versions: Readonly<Record<number, { readonly maxVersion: number }>>
  readonly connectionPool: { send<T>(request: ProtocolRequest<T>): Promise<T> }
}
interface ProtocolRequest<T> {
  readonly request: { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<Encoder> }
  readonly response: { decode(raw: Buffer): Promise<T>; parse(decoded: T): Promise<T> }
}
interface Encoder {
  writeArray(values: readonly string[]): Encoder
  writeBoolean(value: boolean): Encoder
}
interface Decoder {
  readInt16(): number
  readInt32(): number
  readString(): string | null
  readBoolean(): boolean
  readBytes(): Buffer
  readArray<T>(read: (decoder: Decoder) => T): T[]
}

const require = createRequire(import.meta.url)
const EncoderOf = require('kafkajs/src/protocol/encoder') as new () => Encoder
const DecoderOf = require('kafkajs/src/protocol/decoder') as new (raw: Buffer) => Decoder

const METADATA = { apiKey: 3, apiVersion: 8, apiName: 'Metadata' }
const DESCRIBE_GROUPS = { apiKey: 15, apiVersion: 3, apiName: 'DescribeGroups' }
const NO_ERROR = 0
const TOPIC_AUTHORIZATION_FAILED = 29
const GROUP_AUTHORIZATION_FAILED = 30
/** The answer of a broker that does not compute the operations. */
const NOT_COMPUTED = -0x80000000

const READ_MS = 8_000
const DISCONNECT_MS = 1_000

/**
 * Asks what the user of the connection may do with these topics and groups (KIP-430). It changes nothing, and needs no right. A broker
 * without an authorizer answers that everything is allowed. kafkajs has only older versions of the two requests, so they are encoded here.
 * @throws an error of kafkajs if Kafka does not answer in time
 */
export async function readAuthorizedOperations(
  connection: KafkaConnection,
  names: { readonly topics: readonly string[]; readonly groups: readonly string[] },
): Promise<AuthorizedOperations> {
  const cluster = openCluster(createKafkajsClient(connection, { retries: 1, initialRetryTime: 50 }))
  try {
    const read = async () => {
      await cluster.connect()
      return {
        topics: await readTopics(await cluster.brokerPool.findConnectedBroker(), names.topics),
        groups: new Map((await Promise.all(names.groups.map(group => readGroup(cluster, group)))).flat()),
      }
    }
    return await withDeadline(read(), READ_MS, () => new Error(`No answer within ${READ_MS} ms`))
  } finally {
    void waitUntilSettled(cluster.disconnect(), DISCONNECT_MS)
  }
}

/** kafkajs gives a cluster only to its own producers, consumers and admins. */
function openCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  const create = (kafka as unknown as Record<symbol, (options: object) => Cluster>)[symbol!]!
  return create({ metadataMaxAge: 30_000, allowAutoTopicCreation: false })
}

async function readTopics(broker: Broker, topics: readonly string[]): Promise<Map<string, OperationBits>> {
  const encode = (to: Encoder) => to.writeArray(topics).writeBoolean(false).writeBoolean(false).writeBoolean(true)
  return ask(broker, METADATA, encode, from => {
    from.readInt32()
    from.readArray(each => [each.readInt32(), each.readString(), each.readInt32(), each.readString()])
    from.readString()
    from.readInt32()
    return from.readArray(each => {
      const errorCode = each.readInt16()
      const name = each.readString() ?? ''
      each.readBoolean()
      each.readArray(skipPartition)
      return { name, errorCode, bits: each.readInt32() }
    })
  })
}

function skipPartition(from: Decoder): void {
  from.readInt16()
  for (let fields = 0; fields < 3; fields += 1) from.readInt32()
  for (let lists = 0; lists < 3; lists += 1) from.readArray(each => each.readInt32())
}

async function readGroup(cluster: Cluster, groupId: string): Promise<[string, OperationBits][]> {
  let coordinator: Broker
  try {
    coordinator = await cluster.findGroupCoordinator({ groupId })
  } catch (error) {
    // A new cluster has no coordinator yet.
    return (error as { type?: unknown }).type === 'GROUP_AUTHORIZATION_FAILED' ? [[groupId, 0]] : []
  }
  const encode = (to: Encoder) => to.writeArray([groupId]).writeBoolean(true)
  const answer = await ask(coordinator, DESCRIBE_GROUPS, encode, from => {
    from.readInt32()
    return from.readArray(each => {
      const errorCode = each.readInt16()
      const name = each.readString() ?? ''
      for (let texts = 0; texts < 3; texts += 1) each.readString()
      each.readArray(member => {
        for (let texts = 0; texts < 3; texts += 1) member.readString()
        for (let values = 0; values < 2; values += 1) member.readBytes()
      })
      return { name, errorCode, bits: each.readInt32() }
    })
  })
  return [...answer]
}

interface Answered {
  readonly name: string
  readonly errorCode: number
  readonly bits: number
}

/** Sends a request that kafkajs does not have. Older brokers do not know it: then nothing is answered. */
async function ask(
  broker: Broker,
  api: typeof METADATA,
  encode: (to: Encoder) => Encoder,
  decode: (from: Decoder) => Answered[],
): Promise<Map<string, OperationBits>> {
  if ((broker.versions[api.apiKey]?.maxVersion ?? 0) < api.apiVersion) return new Map()
  const answers = await broker.connectionPool.send<Answered[]>({
    request: { ...api, encode: async () => encode(new EncoderOf()) },
    response: { decode: async raw => decode(new DecoderOf(raw)), parse: async decoded => decoded },
  })
  return new Map(
    answers.flatMap(({ name, errorCode, bits }): [string, OperationBits][] => {
      if (errorCode === TOPIC_AUTHORIZATION_FAILED || errorCode === GROUP_AUTHORIZATION_FAILED) return [[name, 0]]
      return errorCode === NO_ERROR && bits !== NOT_COMPUTED ? [[name, bits]] : []
    }),
  )
}
