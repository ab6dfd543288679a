import net from 'node:net'
import tls from 'node:tls'
import kafkajs, { type Kafka, type KafkaConfig, type RetryOptions } from 'kafkajs'
import type { Secret } from '../config/secret.ts'
import type { Logger } from '../logger.ts'
import { patchKafkajsConnections } from './kafkajs-connection-patch.ts'
import { kafkajsLogs } from './kafkajs-logs.ts'
import { patchKafkajs } from './kafkajs-patch.ts'
import { registerZstd } from './zstd-codec.ts'

/** Where the brokers are and how to reach them. */
export interface KafkaConnection {
  /** `host:port` of one or more bootstrap brokers. */
  readonly brokers: readonly string[]
  /** Names this process in the broker's logs and quotas. */
  readonly clientId: string
  readonly logger: Logger
  /** How long one TCP (and TLS) connection may take to open, in milliseconds; 3000 when left out. */
  readonly connectionTimeoutMs?: number
  /** How long one request may take, in milliseconds; 5000 when left out (kafkajs: 30000, longer than any caller waits). */
  readonly requestTimeoutMs?: number
  /** Maximum age of the metadata, in milliseconds: an added partition is seen this late. 30000 when left out. */
  readonly metadataMaxAgeMs?: number
  /** TLS towards the brokers; none when left out. */
  readonly ssl?: boolean | tls.ConnectionOptions
  readonly sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: Secret }
  /** Maps an advertised broker address to the one to connect to, for port-forwards and proxies. */
  readonly translateAddress?: (address: Address) => Address
}

/** Default of `metadataMaxAgeMs`. */
export const METADATA_MAX_AGE_MS = 30_000

export interface Address {
  readonly host: string
  readonly port: number
}

const TCP_KEEP_ALIVE_MS = 60_000

/** One kafkajs client with our timeouts: kafkajs's defaults are too long for a service that answers requests. */
export function createKafkajsClient(connection: KafkaConnection, retry: RetryOptions): Kafka {
  patchKafkajs()
  patchKafkajsConnections()
  registerZstd()
  const config: KafkaConfig = {
    brokers: [...connection.brokers],
    clientId: connection.clientId,
    connectionTimeout: connection.connectionTimeoutMs ?? 3_000,
    authenticationTimeout: connection.requestTimeoutMs ?? 5_000,
    requestTimeout: connection.requestTimeoutMs ?? 5_000,
    retry,
    logLevel: kafkajs.logLevel.INFO,
    logCreator: kafkajsLogs(connection.logger),
    socketFactory: ({ host, port, ssl, onConnect }) => {
      const address = connection.translateAddress?.({ host, port }) ?? { host, port }
      const socket = ssl
        ? tls.connect({ ...address, ...(net.isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
        : net.connect(address, onConnect)
      socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS)
      // kafkajs leaves Nagle's algorithm on, which delays small requests until the broker's delayed ack.
      socket.setNoDelay(true)
      return socket
    },
  }
  if (connection.ssl !== undefined) config.ssl = connection.ssl
  if (connection.sasl !== undefined) {
    const { mechanism, username, password } = connection.sasl
    config.sasl = { mechanism, username, password: password.reveal() } as NonNullable<KafkaConfig['sasl']>
  }
  return new kafkajs.Kafka(config)
}
