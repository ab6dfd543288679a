import type { Operation, OutboxEntry } from '@backstop/contracts'
import type { OutboxSource } from '@backstop/kit'
import type { OperationFilter, OperationStore } from '../ledger.ts'

interface Held {
  operation: Operation
  outbox: { entry: OutboxEntry; writtenAt: number }[]
}

/** The ledger's store in memory, for simulation and unit tests. What is given and returned is copied, as a database would. */
export function createMemoryOperationStore(): { store: OperationStore; outboxSource: OutboxSource } {
  const held = new Map<string, Held>()
  const executed = new Set<string>()
  const operations = () => [...held.values()].map(({ operation }) => structuredClone(operation))
  const byKey = (connectionId: string, key: string) =>
    operations().find(operation => operation.connection_id === connectionId && operation.idempotency_key === key)

  const store: OperationStore = {
    async insert(operation, entry) {
      const key = operation.idempotency_key
      const isTaken = held.has(operation.operation_id) || (key !== null && byKey(operation.connection_id, key))
      if (isTaken) return false
      held.set(operation.operation_id, { operation: structuredClone(operation), outbox: [written(operation, entry)] })
      return true
    },
    async replace(operation, entry) {
      const document = held.get(operation.operation_id)
      if (document === undefined || document.operation.version !== operation.version - 1) return false
      document.operation = structuredClone(operation)
      document.outbox.push(written(operation, entry))
      return true
    },
    load: async operationId => structuredClone(held.get(operationId)?.operation),
    loadByIdempotencyKey: async (connectionId, key) => byKey(connectionId, key),
    list: async filter =>
      operations()
        .filter(operation => matches(operation, filter))
        .sort((a, b) => compare(b.created_at, a.created_at) || compare(b.operation_id, a.operation_id))
        .slice(0, filter.limit),
    byReferences: async references =>
      operations().filter(operation => operation.refs.some(reference => references.includes(reference))),
    async markExecuted(operation) {
      executed.add(operation.connection_id)
    },
    executedConnections: async connectionIds => new Set(connectionIds.filter(id => executed.has(id))),
  }

  const outboxSource: OutboxSource = {
    pending: async (writtenBefore, limit) =>
      [...held]
        .filter(([, { outbox }]) => outbox.some(({ writtenAt }) => writtenAt < writtenBefore))
        .slice(0, limit)
        .map(([documentId, { outbox }]) => ({
          documentId,
          entries: outbox.map(({ entry }) => structuredClone(entry)),
        })),
    async published(documents) {
      for (const { documentId, entryIds } of documents) {
        const document = held.get(documentId)
        if (document) document.outbox = document.outbox.filter(({ entry }) => !entryIds.includes(entry.id))
      }
    },
  }
  return { store, outboxSource }
}

function written(operation: Operation, entry: OutboxEntry): Held['outbox'][number] {
  return { entry: structuredClone(entry), writtenAt: Date.parse(operation.updated_at) }
}

function matches(operation: Operation, filter: OperationFilter): boolean {
  const { after } = filter
  return (
    (filter.projectId === undefined || operation.project_id === filter.projectId) &&
    (filter.connectionId === undefined || operation.connection_id === filter.connectionId) &&
    (filter.state === undefined || operation.state === filter.state) &&
    (filter.subject === undefined || operation.subject === filter.subject) &&
    (after === undefined ||
      operation.created_at < after.createdAt ||
      (operation.created_at === after.createdAt && operation.operation_id < after.operationId))
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
