/** Kafka in memory, which passes the same contract as the real one (`../bus.contract.ts`). */
export { Broker } from './broker.ts'
