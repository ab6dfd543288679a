import { TOPICS, type TopicName } from '@backstop/contracts'
import type { Broker } from '@backstop/kit/simulated-kafka'
import type { MongoServer } from '@backstop/kit/simulated-mongo'
import type { Cluster } from './cluster.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import type { Swarm } from './swarm.ts'
import type { Trace } from './trace.ts'

/** Consumers read the number of partitions again after this time, in milliseconds (`metadataMaxAge`). */
const NOTICED_MS = 30_000

export interface AccidentParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly swarm: Swarm
  /** No accident begins after it. */
  readonly endMs: number
  readonly mongo: MongoServer
  readonly broker: Broker
  readonly cluster: Cluster
  readonly trace: Trace
}

/** Plans the accidents of servers and processes that happen at any time, at the mean times that the swarm gives. */
export function planAccidents(parts: AccidentParts): void {
  const { scheduler, random, swarm, endMs, trace } = parts
  const accidents = accidentsOf(parts)
  for (const [kind, act] of Object.entries(accidents) as [keyof typeof accidents, () => string | undefined][]) {
    const meanMs = swarm[kind]
    if (meanMs === 0) continue
    const own = random.fork(kind)
    const next = () => {
      const delayMs = own.between(1, 2 * meanMs)
      if (scheduler.now + delayMs >= endMs) return
      scheduler.schedule(delayMs, () => {
        const name = act()
        if (name !== undefined) trace.happened(name)
        next()
      })
    }
    next()
  }
}

/** Each accident returns its name, or undefined if nothing was there that it could happen to. */
function accidentsOf({ scheduler, random, swarm, endMs, trace, mongo, broker, cluster }: AccidentParts) {
  const topicNames = Object.keys(TOPICS) as TopicName[]
  const fewReplicas = random.fork('topics with few replicas')
  return {
    electionsMs: () => (mongo.elect(random.next()) > 0 ? 'an election lost a write' : 'an election'),
    terminationsMs: () => {
      const running = cluster.running()
      if (running.length === 0) return undefined
      cluster.terminate(random.pick(running))
      return 'a process was terminated'
    },
    oplogLossMs: () => {
      mongo.forgetOplog()
      return 'the oplog was too short'
    },
    rebalancesMs: () => {
      const groups = [...broker.groups().values()]
      if (groups.length === 0) return undefined
      const group = random.pick(groups)
      if (random.chance(0.5)) {
        group.rebalance()
        return 'a rebalance'
      }
      group.atNextCommit(() => {
        if (scheduler.now >= endMs) return
        group.rebalance()
        trace.happened('a rebalance with a commit in flight')
      })
      return undefined
    },
    leaderMovesMs: () => {
      const topic = random.pick(topicNames)
      const partition = random.between(0, broker.log.countPartitions(topic) - 1)
      broker.log.setLeader(topic, partition, false)
      scheduler.schedule(random.between(100, 10_000), () => broker.log.setLeader(topic, partition, true))
      return 'a leader moved'
    },
    // Longer than a producer repeats a request.
    brokerOutagesMs: () => {
      broker.setAvailable(false)
      scheduler.schedule(random.between(5_000, 30_000), () => broker.setAvailable(true))
      return 'Kafka was unavailable'
    },
    // Consumers read on. Mostly longer than a producer repeats a request, and sometimes than the minute before a second look.
    fewReplicasMs: () => {
      const topics = topicNames.filter(() => fewReplicas.chance(0.5))
      for (const topic of topics) broker.log.setWritable(topic, false)
      scheduler.schedule(Math.min(endMs - scheduler.now, fewReplicas.between(10_000, 60_000)), () => {
        for (const topic of topics) broker.log.setWritable(topic, true)
      })
      return 'topics had too few replicas in sync'
    },
    freezesMs: () => {
      const running = cluster.running()
      if (running.length === 0) return undefined
      random.pick(running).freeze(random.pick([2_000, 10_000, 40_000]))
      return 'a process froze'
    },
    // To all topics of a group, as docs/sizing.md says. The compacted one must keep its partitions.
    addedPartitionsMs: () => {
      const { readTopics } = random.pick([...broker.groups().values()])
      const topics = [...readTopics].filter(topic => TOPICS[topic].cleanup === 'delete')
      broker.addPartitions(topics, random.between(100, NOTICED_MS))
      return 'partitions were added'
    },
    retentionMs: () => (broker.removeRead() > 0 ? 'retention removed messages' : undefined),
    clockJumpsMs: () => {
      const running = cluster.running()
      if (running.length === 0 || swarm.clockMs === 0) return undefined
      random.pick(running).aheadMs = random.between(-swarm.clockMs, swarm.clockMs)
      return 'a clock jumped'
    },
  } satisfies Partial<Record<keyof Swarm, () => string | undefined>>
}
