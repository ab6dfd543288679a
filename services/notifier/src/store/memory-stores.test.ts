import { describeHealth } from '../../test/health.contract.ts'
import { describeStores } from '../../test/store.contract.ts'
import { describeSuppressions } from '../../test/suppressions.contract.ts'
import { createMemoryHealthStore } from './memory-health-store.ts'
import { createMemoryChannelStore, createMemoryCollections, createMemoryDeliveryStore } from './memory-stores.ts'
import { createMemorySuppressionStore } from './memory-suppression-store.ts'

describeStores('in memory', async () => {
  const collections = createMemoryCollections()
  return {
    channels: createMemoryChannelStore(collections),
    deliveries: createMemoryDeliveryStore(collections),
    health: createMemoryHealthStore(collections),
    putChannel: async channel => void collections.channels.set(channel._id, channel),
    delivery: async id => collections.deliveries.get(id),
  }
})

describeSuppressions('in memory', async () => createMemorySuppressionStore(createMemoryCollections()))

describeHealth('in memory', async () => createMemoryHealthStore(createMemoryCollections()))
