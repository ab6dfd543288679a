/** The driver of the Node reporter with the planted fault that its argument names. */
import { plantBug } from '../../../test/simulation/seeded-bugs/seeded-bugs.ts'
import { readFaults } from './faults.ts'

const fault = readFaults(`${import.meta.dirname}/faults.yaml`).find(({ name }) => name === process.argv[2])
if (fault === undefined) throw new Error(`There is no fault ${process.argv[2]}`)
plantBug(fault)
await import('./driver.ts')
