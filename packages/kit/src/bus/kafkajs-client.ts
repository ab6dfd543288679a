import net from 'node:net'
import tls from 'node:tls'
import kafkajs, { type Kafka, type KafkaConfig, type RetryOptions } from 'kafkajs'
import type { Secret } from '../config/secret.ts'
import type { Logger } from '../logger.ts'
import { patchKafkajsConnections } from './kafkajs-connection-patch.ts'
import { kafkajsLogs } from './kafkajs-logs.ts'
import { patchKafkajs } from './kafkajs-patch.ts'
import { registerZstd } from './zstd-codec.ts'

/** The brokers and how to connect to them. */
export interface KafkaConnection {
  /** `host:port` of one or more bootstrap brokers. */
  readonly brokers: readonly string[]
  /** The name of this process in the broker's logs and quotas. */
  readonly clientId: string
  readonly logger: Logger
  /** Time limit for opening one TCP (and TLS) connection, in milliseconds; 3000 by default. */
  readonly connectionTimeoutMs?: number
  /**
   * Time limit of one request, in milliseconds; 5000 by default (the default of kafkajs, 30000, is longer than any
   * caller waits).
   */
  readonly requestTimeoutMs?: number
  /**
   * Maximum age of the metadata, in milliseconds; 30000 by default. A new partition is found after this time at the
   * latest.
   */
  readonly metadataMaxAgeMs?: number
  /** TLS options for the connections to the brokers; no TLS by default. */
  readonly ssl?: boolean | tls.ConnectionOptions
  readonly sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: Secret }
  /** Maps an advertised broker address to the address to connect to, for port-forwards and proxies. */
  readonly translateAddress?: (address: Address) => Address
}

/** Default of `metadataMaxAgeMs`. */
export const METADATA_MAX_AGE_MS = 30_000

export interface Address {
  readonly host: string
  readonly port: number
}

const TCP_KEEP_ALIVE_MS = 60_000

/**
 * Creates a kafkajs client with shorter timeouts, because kafkajs's defaults are too long for a service that answers
 * requests.
 */
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
