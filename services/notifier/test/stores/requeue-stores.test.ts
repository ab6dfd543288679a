import { describeRequeues } from '../requeue.contract.ts'
import { createMemoryReplayStore, createMemoryRequeueStore } from './memory-requeue-store.ts'
import { createMemoryCollections, createMemoryDeliveryStore } from './memory-stores.ts'

describeRequeues('in memory', async () => {
  const collections = createMemoryCollections()
  return {
    deliveries: createMemoryDeliveryStore(collections),
    requeues: createMemoryRequeueStore(collections),
    replays: createMemoryReplayStore(collections),
    erasure: async id => collections.deliveryErasures.get(id),
  }
})
