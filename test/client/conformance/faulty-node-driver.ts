/** The driver of the Node reporter with the planted fault that its argument names. */
import { plantBug } from '../../simulation/seeded-bugs/seeded-bugs.ts'
import { readFaults } from './faults.ts'

const fault = readFaults('node-faults.yaml').find(({ name }) => name === process.argv[2])
if (fault === undefined) throw new Error(`There is no fault ${process.argv[2]}`)
plantBug(fault)
await import('../../../packages/client/conformance/driver.ts')
