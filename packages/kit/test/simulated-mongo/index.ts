/** MongoDB in memory, which passes the same contract as the real one (`contract/driver.contract.ts`). */
export * from './db.ts'
export * from './open.ts'
export * from './server.ts'
export { valuesAt } from './values.ts'
export * from './wire.ts'
