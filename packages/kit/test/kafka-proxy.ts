import type { Address } from '../src/bus/kafkajs-client.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface KafkaProxy extends TcpProxy {
  /** For a bus: leads every connection through the proxy, whatever address the broker advertises. */
  readonly translateAddress: () => Address
  /** Lets the broker do the next produce request and loses its answer; resolves when that has happened. */
  loseNextProduceAnswer(): Promise<void>
}

/** Kafka's number of the produce request (https://kafka.apache.org/protocol#protocol_api_keys). */
const PRODUCE = 0

/** A proxy in front of a broker that knows which request passes. */
export async function startKafkaProxy(broker: string): Promise<KafkaProxy> {
  const [host, port] = broker.split(':') as [string, string]
  const proxy = await startTcpProxy({ host, port: Number(port) })
  return Object.assign(proxy, {
    translateAddress: () => proxy.address,
    loseNextProduceAnswer() {
      return new Promise<void>(resolve => {
        let produced = false
        proxy.onRequest = chunk => {
          // A frame begins with four bytes of size, then two that number the request.
          if (chunk.length > 6 && chunk.readInt16BE(4) === PRODUCE) produced = true
        }
        proxy.passResponse = () => {
          if (!produced) return true
          proxy.onRequest = () => undefined
          proxy.passResponse = () => true
          resolve()
          return false
        }
      })
    },
  })
}
