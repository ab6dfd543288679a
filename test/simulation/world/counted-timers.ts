import { countedImmediate } from './turns.ts'

/** node:timers/promises of the product. A real timer throws. */
export const setImmediate = <T>(value?: T): Promise<T | undefined> =>
  new Promise(resolve => void countedImmediate(() => resolve(value)))

export const setTimeout = (): never => {
  throw new Error('setTimeout was used outside of the clock port')
}
