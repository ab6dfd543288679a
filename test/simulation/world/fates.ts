import type { Command } from '@backstop/kit/simulated-mongo'
import type { Fate, SimulatedProcess } from './process.ts'
import type { Random } from './random.ts'
import type { Swarm } from './swarm.ts'

const ACCIDENTS = {
  answer_lost: 'an answer of a server was lost',
  killed_before: 'a process was killed before a command',
  killed_after: 'a process was killed after its command was carried out',
} as const

export interface FateParts {
  readonly random: Random
  /** The faults that are on now. */
  swarm(): Swarm
  /** Counts an accident. */
  happened(name: string): void
}

/** Draws what happens to each command. */
export function createFates({ random, swarm, happened }: FateParts): (command: Command, who: SimulatedProcess) => Fate {
  const commands = random.fork('fates')
  const afterCommits = createFaultsAfterCommits({ random: random.fork('after commits'), swarm, happened })
  const stalls = createStalls({ random: random.fork('stalls'), swarm, happened })
  return (command, process) => {
    const fate = { ...drawFate(swarm(), commands, command), ...stalls(command), ...afterCommits(command, process) }
    if (fate.kind in ACCIDENTS) happened(ACCIDENTS[fate.kind as keyof typeof ACCIDENTS])
    return fate
  }
}

/**
 * Faults just after a commit of a transaction or of offsets: the next write of the process fails, or the process ends. Then what is committed
 * is done, and the process does not know it or does nothing more about it.
 */
function createFaultsAfterCommits({ random, swarm, happened }: FateParts) {
  const chosen = new WeakMap<SimulatedProcess, string>()
  return ({ name, isWrite }: Command, process: SimulatedProcess): Partial<Fate> => {
    const committed = committedBy(name)
    if (committed !== undefined) {
      const { afterTransactions, afterOffsets } = swarm()
      if (random.chance(committed === 'offsets' ? afterOffsets : afterTransactions)) chosen.set(process, committed)
      return {}
    }
    const before = chosen.get(process)
    if (!isWrite || before === undefined) return {}
    chosen.delete(process)
    happened(`a fault just after a commit of ${before}`)
    return { kind: random.pick(['refused', 'killed_before'] as const) }
  }
}

/** Less than the driver waits for an answer, in milliseconds. */
const LONGEST_STALL_MS = 15_000

/** A write to the database that is on its way for seconds, as after lost packets. The commands on other connections pass it. */
function createStalls({ random, swarm, happened }: FateParts) {
  return ({ server, isWrite }: Command): Partial<Fate> => {
    if (server !== 'mongo' || !isWrite || !random.chance(swarm().stalled)) return {}
    happened('a write reached its server late')
    return { thereMs: random.between(1_000, LONGEST_STALL_MS) }
  }
}

function committedBy(name: string): 'a transaction' | 'offsets' | undefined {
  if (name === 'commitTransaction') return 'a transaction'
  return name.endsWith('.commit') ? 'offsets' : undefined
}

function drawFate(swarm: Swarm, random: Random, command: Command): Fate {
  const way = () => (swarm.latencyMs === 0 || random.chance(0.5) ? 0 : random.between(0, swarm.latencyMs))
  return { thereMs: way(), backMs: way(), kind: drawKind(swarm, random, command) }
}

function drawKind(swarm: Swarm, random: Random, { isWrite }: Command): Fate['kind'] {
  if (swarm.killed > 0 && random.chance(isWrite ? swarm.killed * 5 : swarm.killed)) {
    return random.chance(0.5) ? 'killed_before' : 'killed_after'
  }
  if (swarm.broken > 0 && random.chance(swarm.broken))
    return random.chance(swarm.answersLost) ? 'answer_lost' : 'refused'
  return 'carried_out'
}
