/**
 * Runs the tests of the guarded HTTP client with one change in its source: `run-mutant.ts <file> <text> <replacement>`.
 * Exit codes: 0 if a test failed, as expected; 1 if all tests passed; 3 if the file does not contain the text exactly
 * once.
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
