import type { MessageName } from '@backstop/contracts'
import type { SchemaIdStore } from '../src/registry/schema-id-store.ts'

/** A store of schema ids in memory, for simulation and unit tests. */
export function createMemorySchemaIds(): SchemaIdStore {
  const entries = new Map<string, { schemaId: number; message: MessageName }>()
  return {
    idOf: async key => entries.get(key)?.schemaId,
    messagesOf: async schemaId =>
      [...entries.values()].filter(entry => entry.schemaId === schemaId).map(({ message }) => message),
    async save({ key, schemaId, message }) {
      entries.set(key, { schemaId, message })
    },
  }
}
