import type { MongoServer } from './server.ts'
import type { Wire } from './wire.ts'

/** The connection of one process to a simulated server. */
export interface Connection {
  readonly server: MongoServer
  readonly wire: Wire
}
