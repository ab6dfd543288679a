/** The simulated Kafka passes the contract of the bus, which runs on the real one too. */
import { systemClock } from '../../src/clock/index.ts'
import { busContract } from '../bus.contract.ts'
import { PERFECT_WIRE } from '../simulated-mongo/index.ts'
import { Broker } from './broker.ts'

busContract('simulated', async () => {
  const broker = new Broker(systemClock, 2)
  return {
    bus: broker.openBus({ wire: PERFECT_WIRE, clock: systemClock }),
    committed: async (groupId, topic) => {
      const { committed } = broker.group(groupId)
      return new Map([0, 1].map(partition => [partition, committed.get(`${topic}/${partition}`)]))
    },
  }
})
