import { storeContract } from '../../test/store.contract.ts'
import { createMemoryStores } from './memory-store.ts'

storeContract('in memory', async () => {
  const stores = createMemoryStores()
  return {
    stores,
    action: async id => stores.contents.actions.get(id),
    addExpectedChanges: async expectedChanges => void stores.contents.expectedChanges.push(...expectedChanges),
  }
})
