import net from 'node:net'
import tls from 'node:tls'
import kafkajs, { type ISocketFactory, type Kafka, type KafkaConfig, type RetryOptions } from 'kafkajs'
import type { TlsMaterial } from '../../credentials/tls-material.ts'
import type { Logger } from '../../logger.ts'
import { patchKafkajsEncoder } from '../produce/kafkajs-encoder-patch.ts'
import { registerCodecs } from './codecs.ts'
import { patchKafkajsConnections } from './connection-patch.ts'
import { patchKafkajsFetchWait } from './fetch-wait-patch.ts'
import { patchKafkajs } from './idle-timer-patch.ts'
import { kafkajsLogs } from './logs.ts'
import { type ConnectionWatch, createSaslMechanism, type KafkaSasl } from './sasl.ts'

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
  /** No TLS by default. */
  readonly tls?: TlsMaterial | undefined
  /** No login by default. */
  readonly sasl?: KafkaSasl | undefined
  /** Hears of every accepted and every failed connection. */
  readonly watch?: ConnectionWatch | undefined
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
  patchKafkajsFetchWait()
  patchKafkajsEncoder()
  registerCodecs()
  const config: KafkaConfig = {
    brokers: [...connection.brokers],
    clientId: connection.clientId,
    connectionTimeout: connection.connectionTimeoutMs ?? 3_000,
    authenticationTimeout: connection.requestTimeoutMs ?? 5_000,
    requestTimeout: connection.requestTimeoutMs ?? 5_000,
    retry,
    logLevel: kafkajs.logLevel.INFO,
    logCreator: kafkajsLogs(connection.logger),
    socketFactory: createSocketFactory(connection),
  }
  // The socket factory uses the TLS files; kafkajs itself only needs to know that there is TLS.
  if (connection.tls !== undefined) config.ssl = true
  if (connection.sasl !== undefined) config.sasl = createSaslMechanism(connection.sasl, connection.watch)
  return new kafkajs.Kafka(config)
}

function createSocketFactory({ tls: material, sasl, watch, translateAddress }: KafkaConnection): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const address = translateAddress?.({ host, port }) ?? { host, port }
    const servername = net.isIP(host) ? {} : { servername: host }
    const socket =
      material === undefined
        ? net.connect(address, onConnect)
        : tls.connect({ ...address, ...servername, secureContext: material.context() }, onConnect)
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS)
    // kafkajs leaves Nagle's algorithm on, which delays small requests until the broker's delayed ack.
    socket.setNoDelay(true)
    if (material !== undefined && watch !== undefined) {
      socket.on('error', error => watch.failed(error))
      // With TLS 1.3 the broker refuses a client certificate only after the handshake, so only an answer is a proof.
      if (sasl === undefined) socket.once('data', () => watch.accepted())
    }
    return socket
  }
}
