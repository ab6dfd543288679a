import type { Random } from '../world/random.ts'
import { type Disturbance, LINKED_SERVERS, type LinkedServer } from './link.ts'

/** One accident. Times are milliseconds of the host since the beginning of the faults. */
export type Fault = { readonly atMs: number } & (
  | { readonly kind: 'cut' | 'lost_answer'; readonly member: string; readonly server: LinkedServer }
  | {
      readonly kind: 'disturbed'
      /** One process, or all. */
      readonly member: string | 'all'
      readonly server: LinkedServer
      readonly disturbance: Disturbance
      readonly forMs: number
    }
  | { readonly kind: 'killed' | 'terminated'; readonly member: string; readonly downMs: number }
  | { readonly kind: 'frozen'; readonly member: string; readonly forMs: number }
  | { readonly kind: 'server_killed' | 'server_frozen'; readonly server: 'kafka' | 'mongo'; readonly forMs: number }
  | { readonly kind: 'step_down'; readonly forMs: number }
)

export interface FaultOptions {
  /** The names of the processes. */
  readonly members: readonly string[]
  /** How long faults begin, in milliseconds. */
  readonly durationMs: number
  /** Whether nobody else uses the servers, so that they may be killed. */
  readonly areServersOwn: boolean
}

/** Draws the faults of a run, earliest first. Each kind is off in half of the runs, so that rare combinations come up. */
export function drawFaults(random: Random, { members, durationMs, areServersOwn }: FaultOptions): Fault[] {
  const kinds = { ...faultsOf(members), ...(areServersOwn ? SERVER_FAULTS : {}) }
  const faults = Object.entries(kinds).flatMap(([name, { meanMs, draw }]) => {
    const own = random.fork(name)
    if (own.chance(0.5)) return []
    const drawn: Fault[] = []
    for (let atMs = own.between(1, 2 * meanMs); atMs < durationMs; atMs += own.between(1, 2 * meanMs))
      drawn.push({ atMs, ...draw(own) } as Fault)
    return drawn
  })
  return faults.toSorted((one, other) => one.atMs - other.atMs)
}

interface FaultKind {
  /** Mean time between two, in milliseconds. */
  readonly meanMs: number
  draw(random: Random): object
}

function faultsOf(members: readonly string[]): Record<string, FaultKind> {
  const link = (random: Random) => ({ member: random.pick(members), server: random.pick(LINKED_SERVERS) })
  const disturbed = (meanMs: number, mostMs: number, disturbanceOf: (random: Random) => Disturbance): FaultKind => ({
    meanMs,
    draw: random => ({
      kind: 'disturbed',
      ...link(random),
      ...(random.chance(0.2) ? { member: 'all' } : {}),
      disturbance: disturbanceOf(random),
      forMs: random.between(200, mostMs),
    }),
  })
  return {
    cut: { meanMs: 3_000, draw: random => ({ kind: 'cut', ...link(random) }) },
    lost_answer: {
      meanMs: 1_500,
      draw: random => ({ kind: 'lost_answer', member: random.pick(members), server: random.pick(['kafka', 'mongo']) }),
    },
    silent: disturbed(8_000, 8_000, () => ({ kind: 'silent' })),
    refused: disturbed(8_000, 8_000, () => ({ kind: 'refused' })),
    slow: disturbed(6_000, 8_000, random => ({
      kind: 'slow',
      delayMs: random.pick([20, 200, 1_500]),
      bytesPerSecond: random.pick([20_000, 1_000_000]),
    })),
    killed: {
      meanMs: 7_000,
      draw: random => ({ kind: 'killed', member: random.pick(members), downMs: random.between(0, 4_000) }),
    },
    terminated: {
      meanMs: 12_000,
      draw: random => ({ kind: 'terminated', member: random.pick(members), downMs: random.between(0, 2_000) }),
    },
    frozen: {
      meanMs: 8_000,
      // The last one is longer than the session of a consumer.
      draw: random => ({ kind: 'frozen', member: random.pick(members), forMs: random.pick([1_000, 4_000, 13_000]) }),
    },
  }
}

const SERVER_FAULTS: Record<string, FaultKind> = {
  server_killed: {
    meanMs: 20_000,
    draw: random => ({
      kind: 'server_killed',
      server: random.pick(['kafka', 'mongo']),
      forMs: random.between(0, 4_000),
    }),
  },
  server_frozen: {
    meanMs: 12_000,
    draw: random => ({
      kind: 'server_frozen',
      server: random.pick(['kafka', 'mongo']),
      forMs: random.pick([500, 3_000, 8_000]),
    }),
  },
  step_down: { meanMs: 12_000, draw: random => ({ kind: 'step_down', forMs: random.between(1, 5) * 1_000 }) },
}

/** A line for people. */
export function describeFault(fault: Fault): string {
  const { atMs: _, kind, ...rest } = fault
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  )
  return `${kind.replaceAll('_', ' ')}: ${facts.join(', ')}`
}
