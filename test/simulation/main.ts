/**
 * `npm run simulate -- --seed N [--runs K] [--minutes M] [--timeline]`: runs the whole product in one process on virtual time, with every
 * accident drawn from the seed, and judges it. Exit code 1 if a run was wrong.
 */
import { parseArgs } from 'node:util'
import { huntAll } from './seeded-bugs/hunt.ts'
import { plantBug, readSeededBugs } from './seeded-bugs/seeded-bugs.ts'
import { replaceModules } from './world/globals.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    timeline: { type: 'boolean', default: false },
    bug: { type: 'string' },
    'seeded-bugs': { type: 'boolean', default: false },
  },
})
const {
  seed: first,
  runs,
  minutes,
} = { seed: Number(values.seed), runs: Number(values.runs), minutes: Number(values.minutes) }
if (![first, runs, minutes].every(value => Number.isInteger(value) && value > 0)) {
  process.stderr.write('--seed, --runs and --minutes are whole numbers from 1 on\n')
  process.exit(2)
}

if (values['seeded-bugs']) {
  const options = ['--seed', values.seed, '--runs', values.runs, '--minutes', values.minutes]
  process.exit((await huntAll(options, line => process.stdout.write(`${line}\n`))) === 0 ? 0 : 1)
}
const bug = readSeededBugs().find(({ name }) => name === values.bug)
if (values.bug !== undefined && bug === undefined) {
  process.stderr.write(`There is no seeded bug ${values.bug}\n`)
  process.exit(2)
}

// The modules of the product are imported afterwards, so that they get the replaced ones.
replaceModules()
if (bug !== undefined) plantBug(bug)
const { prepare, run } = await import('./run.ts')
prepare()
let wrong = 0
for (let seed = first; seed < first + runs; seed += 1) {
  const usage = process.cpuUsage()
  const result = await run({ seed, minutes }, values.timeline)
  const { user, system } = process.cpuUsage(usage)
  const facts = `${result.hash} ${result.virtualMs / 1000} s in ${Math.round((user + system) / 1000)} ms of processor time`
  process.stdout.write(`seed ${seed}: ${result.faults.length === 0 ? 'right' : 'WRONG'} ${facts}\n`)
  if (values.timeline) process.stdout.write(`${result.timeline.join('\n')}\n`)
  if (result.faults.length === 0) continue
  wrong += 1
  process.stdout.write(`  ${JSON.stringify(result.swarm)}\n`)
  process.stdout.write(`  ${[...result.counts].map(([name, times]) => `${name} ×${times}`).join(', ')}\n`)
  for (const fault of result.faults) process.stdout.write(`  - ${fault}\n`)
  if (bug !== undefined) break
}
process.stdout.write(`${runs - wrong} of ${runs} runs are right\n`)
process.exit(wrong === 0 ? 0 : 1)
