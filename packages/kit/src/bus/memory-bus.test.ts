import { busContract } from '../../test/bus.contract.ts'
import { systemClock } from '../clock/clock.ts'
import { createMemoryBus } from './memory-bus.ts'

busContract('in memory', async () => {
  const bus = createMemoryBus({ clock: systemClock, partitions: 2 })
  return { bus, committed: async (groupId, topic) => bus.committed(groupId, topic) }
})
