import { systemClock } from '../src/clock/clock.ts'
import { busContract } from './bus.contract.ts'
import { createMemoryBus } from './memory-bus.ts'

busContract('in memory', async () => {
  const bus = createMemoryBus({ clock: systemClock, partitions: 2 })
  return { bus, committed: async (groupId, topic) => bus.committed(groupId, topic) }
})
