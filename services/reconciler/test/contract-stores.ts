import type { ActionDocument, ConnectionDocument, SweepDayDocument } from '@backstop/contracts'
import type { Mongo } from '@backstop/kit/mongo'
import { openStores } from '../src/stores.ts'
import type { StoresUnderTest } from './store.contract.ts'

/** The stores over a database, for their contract. */
export function openContractStores(mongo: Mongo): StoresUnderTest {
  const { db } = mongo
  const actions = db.collection<ActionDocument>('actions')
  return {
    ...openStores(mongo),
    listedAction: async id => (await actions.findOne({ _id: id })) ?? undefined,
    storedSweepDays: () => db.collection<SweepDayDocument>('sweep_days').find().sort({ _id: 1 }).toArray(),
    async putConnection(connection, projectName) {
      const { _id, project_id, ...fields } = connection
      const put = { upsert: true }
      await db.collection<ConnectionDocument>('connections').replaceOne({ _id }, { project_id, ...fields }, put)
      if (projectName !== null)
        await db.collection<{ _id: string }>('projects').replaceOne({ _id: project_id }, { name: projectName }, put)
    },
  }
}
