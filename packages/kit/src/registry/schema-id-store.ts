import type { MessageName, SchemaIdDocument } from '@backstop/contracts'
import type { Db } from 'mongodb'
import { asUnavailable } from '../mongo/mongo.ts'

/** Stores schema ids for times when the registry is unavailable. Only the deploy job writes to it. */
export interface SchemaIdStore {
  /** The id of the schema with this key (see contracts `schemaKey`); undefined if it was never registered. */
  idOf(key: string): Promise<number | undefined>
  /** The message types with this schema id; empty if the id is unknown. */
  messagesOf(schemaId: number): Promise<readonly MessageName[]>
  save(entry: { key: string; schemaId: number; message: MessageName; registeredAt: Date }): Promise<void>
}

/** The store in the collection `schema_ids`. */
export function createMongoSchemaIds(db: Db): SchemaIdStore {
  const collection = db.collection<SchemaIdDocument>('schema_ids')
  return {
    idOf: key => asUnavailable(async () => (await collection.findOne({ _id: key }))?.schema_id),
    messagesOf: schemaId =>
      asUnavailable(async () => {
        const documents = await collection.find({ schema_id: schemaId }).toArray()
        return documents.map(({ message }) => message as MessageName)
      }),
    async save({ key, schemaId, message, registeredAt }) {
      await asUnavailable(() =>
        collection.updateOne(
          { _id: key },
          // A replaced registry assigns new ids, but the time of the first registration is kept.
          { $set: { schema_id: schemaId, message }, $setOnInsert: { registered_at: registeredAt } },
          { upsert: true },
        ),
      )
    },
  }
}
