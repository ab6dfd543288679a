import type { ConnectionDocument } from '@backstop/contracts'
import type { Logger } from '@backstop/kit/logger'
import type { SecretBox } from '@backstop/kit/secret-box'
import { type Connections, type InboundConnection, toInboundConnection } from '../src/connections/connections.ts'

/** Connections in memory, for unit tests and simulations. Changes apply at once after `start`. */
export interface MemoryConnections extends Connections {
  save(document: ConnectionDocument): void
  remove(connectionId: string): void
}

export function createMemoryConnections(options: { secretBox: SecretBox; logger: Logger }): MemoryConnections {
  const held = new Map<string, InboundConnection>()
  let loaded = false
  return {
    async start() {
      loaded = true
    },
    async stop() {},
    isLoaded: () => loaded,
    count: () => (loaded ? held.size : 0),
    find: connectionId => (loaded ? held.get(connectionId) : undefined),
    save(document) {
      const connection = toInboundConnection(document, options.secretBox, options.logger)
      if (connection === undefined) held.delete(document._id)
      else held.set(document._id, connection)
    },
    remove: connectionId => void held.delete(connectionId),
  }
}
