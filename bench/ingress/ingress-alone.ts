import type { ConnectionDocument } from '@backstop/contracts'
import { connectionDocument, KEY_RING } from '../../services/ingress/test/connection-documents.ts'
import { connectionsOfRefunds } from '../../test/setup/refunds.ts'
import { openServiceAlone } from '../../test/setup/service-alone.ts'
import type { BenchSurroundings } from '../frame/benchmark.ts'
import { SECRET, type Server } from './measure.ts'
import { countMessages } from './messages.ts'

/** Ingress as a process of its own, with the billing connections of the load. */
export interface IngressAlone {
  /** The topic of the events. */
  readonly topic: string
  start(): Promise<Server>
  /** The used part of the heap of the process, in bytes. */
  heapBytes(): Promise<number>
  close(): Promise<void>
}

/**
 * @param name unique on the stack: lower-case letters, digits and dashes
 * @param more settings
 * @param count the number of billing connections; 20 by default
 */
export async function openIngressAlone(
  name: string,
  { stack, folder }: Pick<BenchSurroundings, 'stack' | 'folder'>,
  more: Record<string, string> = {},
  count?: number,
): Promise<IngressAlone> {
  const env = {
    SECRET_KEYS: KEY_RING,
    // The load comes from few billing connections.
    ...{ RATE_LIMIT_PER_S: '1000000', RATE_LIMIT_BURST: '10000000' },
    // Beside other work the process may wait for a core. Without this it would then answer 503.
    SHED_WAIT_MS: '2500',
    ...more,
  }
  const ingress = await openServiceAlone('ingress', { name, stack, folder, env })
  const connections = connectionsOfRefunds(count).map(({ _id, project_id }) =>
    connectionDocument(_id, 'processor', [SECRET], { project_id }),
  )
  await ingress.mongo.db.collection<ConnectionDocument>('connections').insertMany(connections)
  const topic = `${ingress.topicPrefix}inbound.processor`
  return {
    topic,
    async start() {
      const before = await countMessages(stack.kafka, topic)
      await ingress.start()
      return {
        port: Number(new URL(ingress.url).port),
        cpuMs: ingress.cpuMs,
        stored: async () => (await countMessages(stack.kafka, topic)) - before,
        stop: ingress.stop,
      }
    },
    heapBytes: ingress.heapBytes,
    close: ingress.close,
  }
}
