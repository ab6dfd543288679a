import { describe } from 'vitest'
import { groupContract } from './bus-contract/groups.ts'
import { messageContract } from './bus-contract/messages.ts'
import { progressContract } from './bus-contract/progress.ts'
import type { BusUnderTest } from './bus-contract/set-up.ts'

export { CONTRACT_TOPICS } from './bus-contract/set-up.ts'

/** The contract of every bus implementation. `open` returns a bus with empty topics. */
export function busContract(name: string, open: () => Promise<BusUnderTest>): void {
  describe(`the bus contract: ${name}`, () => {
    messageContract(open)
    progressContract(open)
    groupContract(open)
  })
}
