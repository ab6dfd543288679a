import { erasureContract } from '../../test/erasure.contract.ts'
import { createMemoryStores } from '../../test/memory-stores/memory-store.ts'

erasureContract('in memory', async () => {
  const stores = createMemoryStores()
  const { cases, actions, inbox, connections } = stores.contents
  return {
    stores,
    putConnection: async connection => void connections.set(connection._id, connection),
    text: async collection =>
      JSON.stringify(
        { subjects: [...cases.values()], actions: [...actions.values()], inbox_bodies: [...inbox.values()] }[
          collection
        ],
      ),
  }
})
