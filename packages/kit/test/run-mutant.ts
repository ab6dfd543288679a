/**
 * Runs the tests of the guarded client with one change made to its source on the way, and ends with 0 when a test failed, as
 * it should: `run-mutant.ts <file> <text> <text in its place>`. 3: the file does not hold the text once. 1: no test saw it.
 */
import { resolve } from 'node:path'
import { startVitest } from 'vitest/node'

const EGRESS = resolve(import.meta.dirname, '../src/egress')
const [file = '', from = '', to = ''] = process.argv.slice(2)
let isMutated = false

const vitest = await startVitest(
  'test',
  [],
  {
    config: false,
    root: EGRESS,
    include: ['*.test.ts'],
    watch: false,
    isolate: false,
    bail: 1,
    reporters: [{}],
  },
  {
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        transform(code, id) {
          if (id !== resolve(EGRESS, file)) return undefined
          isMutated = code.split(from).length === 2
          return code.replace(from, () => to)
        },
      },
    ],
  },
)
const failed = vitest.state.getCountOfFailedTests()
await vitest.close()
process.exit(isMutated ? (failed > 0 ? 0 : 1) : 3)
