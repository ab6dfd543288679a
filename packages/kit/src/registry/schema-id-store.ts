import type { MessageName, SchemaIdDocument } from '@backstop/contracts'
import type { Db } from 'mongodb'
import { asUnavailable } from '../mongo/mongo.ts'

/** Where known schema ids are kept, so that a registry that is away stops nobody. The deploy job writes it. */
export interface SchemaIdStore {
  /** The id of the schema with this key (see contracts `schemaKey`); undefined when it was never registered. */
  idOf(key: string): Promise<number | undefined>
  /** The message types that a schema id stands for; empty when it is not known here. */
  messagesOf(schemaId: number): Promise<readonly MessageName[]>
  save(entry: { key: string; schemaId: number; message: MessageName; registeredAt: Date }): Promise<void>
}

/** The store over the collection `schema_ids`. */
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
          // A registry that was set up anew gives new ids; the day of the first registration stays.
          { $set: { schema_id: schemaId, message }, $setOnInsert: { registered_at: registeredAt } },
          { upsert: true },
        ),
      )
    },
  }
}
