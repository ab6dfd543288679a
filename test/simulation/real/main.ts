import { join } from 'node:path'
import { progressOn, startStack } from '@backstop/stack'
import { type RealGroupResult, runReal } from './run.ts'
import { ownServers } from './servers.ts'

const FOLDER = join(import.meta.dirname, '../../../.backstop/simulate')
/** Eighteen seconds of the clock. */
const DEFAULT_MINUTES = 3

export interface RealBatch {
  readonly seeds: readonly number[]
  /** Minutes of the plan with faults. */
  readonly minutes: number | undefined
  /** How many seeds share the processes, with the faults of the first one. */
  readonly together: number
  /** Whether the timeline is also printed if every seed is right. */
  readonly hasTimeline: boolean
  readonly commit: string
}

type Print = (text: string) => void

/** Runs seeds on the real processes and servers. @returns whether every seed is right */
export async function simulateReal(batch: RealBatch, print: Print): Promise<boolean> {
  const { seeds, together, minutes = DEFAULT_MINUTES } = batch
  const stack = await startStack({
    ...{ dataDir: join(FOLDER, 'stack'), log: progressOn(process.stderr), env: process.env, endWithProcess: true },
    only: ['kafka', 'mongo', 'registry'],
  })
  // A server that was given may have other users, and one in a container has no process here.
  const servers = stack.kind === 'embedded' ? ownServers(stack) : undefined
  let wrong = 0
  try {
    for (let at = 0; at < seeds.length; at += together) {
      const group = seeds.slice(at, at + together)
      const folder = join(FOLDER, `seed-${group[0]}`)
      const startedAt = performance.now()
      const result = await runReal({ seeds: group, minutes, stack: stack.urls, servers, folder })
      print(describeGroup(result, { ...batch, seeds: group, minutes, folder, wallMs: performance.now() - startedAt }))
      wrong += result.runs.filter(run => run.faults.length > 0).length
    }
  } finally {
    await stack.stop()
  }
  print(`${seeds.length - wrong} of ${seeds.length} seeds are right`)
  return wrong === 0
}

interface GroupFacts extends RealBatch {
  readonly folder: string
  readonly wallMs: number
}

/** The result of a group for people. A group with a wrong seed has its timeline, and how to run it again. */
function describeGroup({ runs, counts, timeline }: RealGroupResult, facts: GroupFacts): string {
  const { seeds, minutes, folder, wallMs, hasTimeline, commit } = facts
  const isWrong = runs.some(run => run.faults.length > 0)
  const accidents = [...counts].map(([name, times]) => `${name.replaceAll('_', ' ')} ×${times}`)
  const again = `--real --seed ${seeds[0]} --runs ${seeds.length} --together ${seeds.length} --minutes ${minutes}`
  return [
    ...(hasTimeline || isWrong ? timeline : []),
    `seeds ${seeds[0]} to ${seeds.at(-1)}: ${(wallMs / 1_000).toFixed(1)} s; ${accidents.join(', ') || 'no accidents'}`,
    ...runs.flatMap(({ seed, faults }) => [
      `seed ${seed}: ${faults.length === 0 ? 'right' : 'WRONG'}`,
      ...faults.map(fault => `  - ${fault}`),
    ]),
    ...(isWrong ? [`Again, at commit ${commit}: npm run simulate -- ${again}`, `The logs: ${folder}/logs`] : []),
  ].join('\n')
}
