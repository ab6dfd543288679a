/**
 * `node packages/client/conformance/run.ts [--case TEXT] -- COMMAND [ARGUMENTS]`: plays the cases of the conformance suite with the driver that
 * the command starts. Without a command it is that of the Node reporter. Ends with 1 if a case failed.
 */
import { parseArgs } from 'node:util'
import { readCases } from './case.ts'
import { playAll } from './play-all.ts'

const { values, positionals } = parseArgs({
  options: { case: { type: 'string', default: '' } },
  allowPositionals: true,
})
const command = positionals.length > 0 ? positionals : [process.execPath, `${import.meta.dirname}/driver.ts`]
const cases = readCases().filter(({ name }) => name.includes(values.case))
const outcomes = await playAll(cases, command, {
  onOutcome({ name, kind, why }) {
    process.stdout.write(`${kind.padEnd(12)}${name}${why === undefined ? '' : `\n    ${why}`}\n`)
  },
})
const failed = outcomes.filter(({ kind }) => kind === 'failed').length
process.stdout.write(`${outcomes.length} cases, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
