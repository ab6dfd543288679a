import type { SweepDayDocument } from '@backstop/contracts'
import { storeContract } from '../store.contract.ts'
import { createMemoryStores } from './memory-store.ts'

storeContract('in memory', async () => {
  const stores = createMemoryStores()
  return {
    ...stores,
    storedSweepDays: () => stores.mongo.db.collection<SweepDayDocument>('sweep_days').find().sort({ _id: 1 }).toArray(),
    listedAction: async id => stores.contents.actions.get(id),
    putConnection: async (connection, projectName) => {
      stores.contents.connections.set(connection._id, connection)
      if (projectName !== null) stores.contents.projectNames.set(connection.project_id, projectName)
    },
  }
})
