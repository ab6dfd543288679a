import { describeRequeues } from '../requeue.contract.ts'
import { createMemoryReplayStore, createMemoryRequeueStore } from './memory-requeue-store.ts'
import { createMemoryCollections, createMemoryDeliveryStore } from './memory-stores.ts'

describeRequeues('in memory', async () => {
  const collections = createMemoryCollections()
  return {
    deliveries: createMemoryDeliveryStore(collections),
    requeues: createMemoryRequeueStore(collections),
    replays: createMemoryReplayStore(collections),
    putRequest: async request => void collections.personErasures.set(request._id, request),
    erasure: async id => collections.deliveryErasures.get(id),
  }
})
