import type { Mongo } from '../../src/mongo/index.ts'
import { simulatedMongo } from './db.ts'
import type { IndexDefinition } from './indexes.ts'
import { MongoServer } from './server.ts'
import { PERFECT_WIRE } from './wire.ts'

/** An empty database in memory, without faults. @param definitions the indexes by the name of the collection */
export function openSimulatedMongo(
  definitions: Readonly<Record<string, { readonly indexes: readonly IndexDefinition[] }>>,
): { readonly mongo: Mongo; readonly server: MongoServer } {
  const server = new MongoServer(definitions, { replicate: confirm => confirm() })
  return { mongo: simulatedMongo(server, PERFECT_WIRE), server }
}
