import type { Document } from 'mongodb'
import type { Mongo } from '../../src/mongo/index.ts'
import { SimulatedChangeStream } from './change-stream.ts'
import { SimulatedCollection } from './collection.ts'
import type { Connection } from './connection.ts'
import { brokenConnection } from './errors.ts'
import type { MongoServer } from './server.ts'
import { SimulatedSession } from './session.ts'
import type { Wire } from './wire.ts'

/** The methods of the driver's Db that the product uses, for one process. */
export class SimulatedDb implements Connection {
  readonly databaseName = 'simulation'
  readonly server: MongoServer
  readonly wire: Wire
  readonly client: {
    startSession(): SimulatedSession
    withSession<T>(act: (session: SimulatedSession) => Promise<T>): Promise<T>
  }

  constructor(server: MongoServer, wire: Wire) {
    this.server = server
    this.wire = wire
    this.client = {
      startSession: () => new SimulatedSession(this),
      withSession: act => act(new SimulatedSession(this)),
    }
  }

  collection(name: string): SimulatedCollection {
    return new SimulatedCollection(this, name)
  }

  watch(pipeline: Document[] = [], options: Document = {}): SimulatedChangeStream {
    return new SimulatedChangeStream(this, pipeline, options)
  }

  async command(command: Document): Promise<Document> {
    const [name = ''] = Object.keys(command)
    return this.wire.call({ server: 'mongo', name, isWrite: false, broken: brokenConnection }, () => {
      if (name === 'hello') return { ok: 1, localTime: new Date(this.wire.now()) }
      if (name === 'ping') return { ok: 1 }
      throw new Error(`The simulated server does not know the command ${name}`)
    })
  }
}

/** The product's handle of a simulated server. The facade has the methods that the product calls; the driver's type has many more. */
export function simulatedMongo(server: MongoServer, wire: Wire): Mongo {
  const db = new SimulatedDb(server, wire)
  return {
    db,
    client: db.client,
    ping: async () => void (await db.command({ ping: 1 })),
    stop: async () => {},
  } as unknown as Mongo
}
