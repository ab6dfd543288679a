import { storeContract } from '../store.contract.ts'
import { createMemoryStores } from './memory-store.ts'

storeContract('in memory', async () => {
  const stores = createMemoryStores()
  return {
    ...stores,
    listedAction: async id => stores.contents.actions.get(id),
    addConnection: async (connection, projectName) => {
      stores.contents.connections.set(connection._id, connection)
      if (projectName !== null) stores.contents.projectNames.set(connection.project_id, projectName)
    },
  }
})
