import type { Address } from '../src/bus/kafkajs/client.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface KafkaProxy extends TcpProxy {
  /** An option for a bus: sends every connection through the proxy, whatever address the broker advertises. */
  readonly translateAddress: () => Address
  /** Lets the broker execute the next produce request and drops its answer. Resolves when the answer is dropped. */
  loseNextProduceAnswer(): Promise<void>
}

/** Kafka's number of the produce request (https://kafka.apache.org/protocol#protocol_api_keys). */
const PRODUCE = 0

/** A proxy before a broker that recognises produce requests. */
export async function startKafkaProxy(broker: string): Promise<KafkaProxy> {
  const [host, port] = broker.split(':') as [string, string]
  const proxy = await startTcpProxy({ host, port: Number(port) })
  return Object.assign(proxy, {
    translateAddress: () => proxy.address,
    loseNextProduceAnswer() {
      return new Promise<void>(resolve => {
        let produced = false
        proxy.onRequest = chunk => {
          // A frame begins with its size in four bytes, followed by the number of the request in two bytes.
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
