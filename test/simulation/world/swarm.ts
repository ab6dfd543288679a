import { drawHabits, type Habits, NO_HABITS } from '../actors/habits.ts'
import type { Random } from './random.ts'

/** The kinds of fault of one run, and how often each happens. A run has some of them, so that rare combinations come up. */
export interface Swarm extends Habits {
  /** Probability of a fault of one command, by server. */
  readonly broken: number
  /** Of the broken commands, the share that the server carried out. */
  readonly answersLost: number
  /** Longest time of one way to a server, in milliseconds. */
  readonly latencyMs: number
  /** Probability that a process ends at a command. */
  readonly killed: number
  /** Probability of a fault just after a commit of a transaction, and of offsets. */
  readonly afterTransactions: number
  readonly afterOffsets: number
  /** Probability that a write to the database is on its way for seconds. */
  readonly stalled: number
  /** Mean times between accidents, in milliseconds; 0 for none. */
  readonly electionsMs: number
  readonly rebalancesMs: number
  readonly leaderMovesMs: number
  readonly brokerOutagesMs: number
  readonly fewReplicasMs: number
  readonly freezesMs: number
  readonly terminationsMs: number
  readonly oplogLossMs: number
  readonly addedPartitionsMs: number
  readonly retentionMs: number
  readonly clockJumpsMs: number
  /** Longest delay until a majority has a write, in milliseconds. */
  readonly replicationMs: number
  /** How far the clocks of processes differ, in milliseconds. */
  readonly clockMs: number
  /** Of the providers' notifications: sent twice, and their longest delay in milliseconds. */
  readonly repeats: number
  readonly delayMs: number
  /** Probability that a receiver refuses, hangs, or takes a message and loses the answer. */
  readonly receiverFaults: number
  /** Probability that a provider's API fails, hangs or limits the rate. */
  readonly providerFaults: number
  /** When a rolling update from the last release begins, in milliseconds; 0 for none. */
  readonly updateAtMs: number
  /** Replicas of each service. */
  readonly replicas: 1 | 2
}

/** Draws the faults of a run. Most kinds are off in half of the runs, and rare ones in most of them. */
export function drawSwarm(random: Random): Swarm {
  const maybe = (draw: () => number) => (random.chance(0.5) ? draw() : 0)
  return {
    broken: maybe(() => random.pick([0.001, 0.01, 0.05])),
    answersLost: random.next(),
    latencyMs: random.pick([0, 1, 5, 50, 400]),
    killed: maybe(() => random.pick([0.0002, 0.001])),
    electionsMs: maybe(() => random.between(20, 90) * 1_000),
    rebalancesMs: maybe(() => random.between(5, 60) * 1_000),
    leaderMovesMs: maybe(() => random.between(20, 90) * 1_000),
    freezesMs: maybe(() => random.between(30, 120) * 1_000),
    oplogLossMs: maybe(() => random.between(20, 120) * 1_000),
    addedPartitionsMs: random.chance(0.2) ? random.between(20, 90) * 1_000 : 0,
    retentionMs: maybe(() => random.between(10, 60) * 1_000),
    clockJumpsMs: maybe(() => random.between(10, 60) * 1_000),
    terminationsMs: drawRare(random.fork('terminations'), { probability: 0.4, ms: [10_000, 60_000] }),
    brokerOutagesMs: drawRare(random.fork('broker outages'), { probability: 0.15, ms: [40_000, 90_000] }),
    fewReplicasMs: drawRare(random.fork('few replicas'), { probability: 0.1, ms: [15_000, 60_000] }),
    ...drawAfterCommits(random.fork('after commits')),
    stalled: drawStalled(random.fork('stalled')),
    replicationMs: random.pick([1, 5, 50, 500]),
    clockMs: maybe(() => random.pick([100, 900])),
    repeats: maybe(() => random.pick([0.05, 0.3])),
    delayMs: maybe(() => random.pick([1_000, 20_000, 90_000])),
    receiverFaults: maybe(() => random.pick([0.05, 0.4])),
    providerFaults: maybe(() => random.pick([0.02, 0.3])),
    replicas: random.pick([1, 2]),
    updateAtMs: drawRare(random.fork('update'), { probability: 0.3, ms: [1, 50_000] }),
    ...drawHabits(random.fork('habits')),
  }
}

/** The time of a kind that is on with this probability. */
function drawRare(
  random: Random,
  { probability, ms: [least, most] }: { readonly probability: number; readonly ms: readonly [number, number] },
): number {
  return random.chance(probability) ? random.between(least, most) : 0
}

function drawAfterCommits(random: Random): Pick<Swarm, 'afterTransactions' | 'afterOffsets'> {
  const draw = (probability: number, values: readonly number[]) =>
    random.chance(probability) ? random.pick(values) : 0
  return { afterTransactions: draw(0.05, [0.2, 0.6]), afterOffsets: draw(0.1, [0.02, 0.1]) }
}

function drawStalled(random: Random): number {
  return random.chance(0.05) ? random.pick([0.003, 0.015]) : 0
}

/** Whether something may have broken between a receiver's answer and its record. */
export function mayRepeat({
  broken,
  killed,
  electionsMs,
  rebalancesMs,
  freezesMs,
  leaderMovesMs,
  terminationsMs,
  brokerOutagesMs,
  fewReplicasMs,
  afterTransactions,
  afterOffsets,
  stalled,
}: Swarm): boolean {
  const ofProcesses = broken + killed + afterTransactions + afterOffsets + stalled + freezesMs + terminationsMs
  const ofServers = electionsMs + rebalancesMs + leaderMovesMs + brokerOutagesMs + fewReplicasMs
  return ofProcesses + ofServers > 0
}

/** A run without faults. */
export const CALM: Swarm = {
  ...NO_HABITS,
  broken: 0,
  answersLost: 0,
  latencyMs: 0,
  killed: 0,
  afterTransactions: 0,
  afterOffsets: 0,
  stalled: 0,
  electionsMs: 0,
  rebalancesMs: 0,
  leaderMovesMs: 0,
  brokerOutagesMs: 0,
  fewReplicasMs: 0,
  freezesMs: 0,
  terminationsMs: 0,
  oplogLossMs: 0,
  addedPartitionsMs: 0,
  retentionMs: 0,
  clockJumpsMs: 0,
  replicationMs: 1,
  clockMs: 0,
  repeats: 0,
  delayMs: 0,
  receiverFaults: 0,
  providerFaults: 0,
  updateAtMs: 0,
  replicas: 1,
}
