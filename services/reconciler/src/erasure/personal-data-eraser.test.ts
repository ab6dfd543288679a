import { erasureContract } from '../../test/erasure.contract.ts'
import { createMemoryStores } from '../../test/memory-stores/memory-store.ts'

erasureContract('in memory', async () => {
  const stores = createMemoryStores()
  const { cases, actions, inbox, connections, personErasures, erasures } = stores.contents
  return {
    stores,
    putConnection: async connection => void connections.set(connection._id, connection),
    putRequest: async request => void personErasures.set(request._id, request),
    progress: async id => erasures.get(id),
    text: async collection =>
      JSON.stringify(
        { subjects: [...cases.values()], actions: [...actions.values()], inbox_bodies: [...inbox.values()] }[
          collection
        ],
      ),
  }
})
