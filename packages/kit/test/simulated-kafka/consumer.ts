import { OffsetTracker } from '../../src/bus/consumer/offset-tracker.ts'
import type { Batch, BatchProgress, Consumer, ConsumerOptions, IncomingMessage } from '../../src/bus/index.ts'
import type { Clock } from '../../src/clock/index.ts'
import type { Logger } from '../../src/logger.ts'
import type { Wire } from '../simulated-mongo/index.ts'
import { type Group, type GroupMember, nameOf, type PartitionId } from './group.ts'
import type { TopicLog } from './log.ts'

const DEFAULT_BATCH_MESSAGES = 500
const DEFAULT_DRAIN_MS = 15_000
/** The pauses of the Kafka bus, in milliseconds. */
const SHORTEST_PAUSE_MS = 50
const FAULT_PAUSE_MS = [500, 30_000] as const
const UNREACHABLE_PAUSE_MS = 500

interface OwnedPartition {
  readonly id: PartitionId
  readonly tracker: OffsetTracker
  controller: AbortController
  position: bigint | undefined
  isBusy: boolean
  faults: number
  isLost: boolean
  endPause: (() => void) | undefined
  unfollow: () => void
}

/** The broker as a consumer needs it. */
export interface ConsumedBroker {
  readonly log: TopicLog
  group(groupId: string): Group
  /** The error of a request that reaches no leader. */
  unreachable(): Error
}

export interface ConsumerParts {
  readonly broker: ConsumedBroker
  readonly wire: Wire
  readonly clock: Clock
  readonly logger?: Logger | undefined
}

/** The consumer of a simulated broker, with the promises of the Kafka bus: work goes on over a rebalance if the partition stays. */
export class SimulatedConsumer implements Consumer, GroupMember {
  readonly #parts: ConsumerParts
  readonly #options: ConsumerOptions
  readonly #group: Group
  readonly #owned = new Map<string, OwnedPartition>()
  #generation = 0
  #isRunning = false
  #isJoining = false
  #isCommitting = false
  #commitAgain = false
  #lastProgressAt = Number.NEGATIVE_INFINITY
  #waiters: { isDone: () => boolean; resolve: () => void }[] = []

  constructor(parts: ConsumerParts, options: ConsumerOptions) {
    this.#parts = parts
    this.#options = options
    this.#group = parts.broker.group(options.groupId)
  }

  get topics() {
    return this.#options.topics
  }

  get commits() {
    return this.#options.onlyRecentMs === undefined
  }

  async start(): Promise<void> {
    this.#isRunning = true
    this.#progress()
    void this.#join()
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#isRunning = false
    for (const owned of this.#owned.values()) this.#interrupt(owned)
    const isIdle = () => [...this.#owned.values()].every(owned => !owned.isBusy && owned.tracker.openCount === 0)
    await this.#until(isIdle, this.#options.drainTimeoutMs ?? DEFAULT_DRAIN_MS)
    await this.#until(() => !this.#isCommitting, 3_000)
    for (const owned of [...this.#owned.values()]) this.#release(owned)
    await this.#call('leaveGroup', () => this.#group.leave(this)).catch(() => {})
  }

  /** Ends as if by SIGKILL, and its coordinator notices it at once. */
  kill(): void {
    this.#isRunning = false
    for (const owned of [...this.#owned.values()]) this.#release(owned)
    this.#group.leave(this)
  }

  msSinceProgress(): number {
    return this.#parts.clock.now() - this.#lastProgressAt
  }

  async rejoin(): Promise<void> {
    this.#isJoining = true
    // Handed-off messages stay in progress, because their partition may be assigned to this process again.
    if (this.#options.commit === 'accepted') for (const owned of this.#owned.values()) owned.controller.abort()
    await this.#until(() => [...this.#owned.values()].every(owned => !owned.isBusy) && !this.#isCommitting)
    await this.#persist('joinGroup', () => {})
    // The coordinator went on without a member that was too late, for example because its process was frozen.
    if (!this.#group.isMember(this) && this.#isRunning) this.#startAgain()
  }

  assign(generation: number, partitions: readonly PartitionId[]): void {
    this.#generation = generation
    this.#isJoining = false
    this.#progress()
    const names = new Set(partitions.map(nameOf))
    for (const [name, owned] of [...this.#owned]) if (!names.has(name)) this.#release(owned)
    if (!this.#isRunning) return
    for (const id of partitions) {
      const known = this.#owned.get(nameOf(id))
      if (known?.controller.signal.aborted) known.controller = new AbortController()
      const owned = known ?? this.#own(id)
      owned.endPause?.()
      void this.#pump(owned)
    }
  }

  async #join(): Promise<void> {
    this.#isJoining = true
    await this.#persist('joinGroup', () => {
      if (this.#isRunning) this.#group.join(this)
    })
  }

  #own(id: PartitionId): OwnedPartition {
    const owned: OwnedPartition = {
      id,
      tracker: new OffsetTracker(),
      controller: new AbortController(),
      position: undefined,
      isBusy: false,
      faults: 0,
      isLost: false,
      endPause: undefined,
      unfollow: () => {},
    }
    owned.unfollow = this.#parts.broker.log.follow(id.topic, id.partition, () => void this.#pump(owned))
    this.#owned.set(nameOf(id), owned)
    return owned
  }

  async #pump(owned: OwnedPartition): Promise<void> {
    if (owned.isBusy || owned.endPause !== undefined) return
    owned.isBusy = true
    while (this.#mayContinue(owned)) {
      const batch = await this.#fetch(owned)
      if (batch === 'unreachable') {
        this.#pause(owned, UNREACHABLE_PAUSE_MS)
        break
      }
      if (batch.length === 0 || !this.#mayContinue(owned)) break
      const { resumeAfterMs } = await this.#handle(owned, batch)
      this.#progress()
      if (resumeAfterMs !== undefined) this.#pause(owned, resumeAfterMs)
    }
    owned.isBusy = false
    this.#check()
    // A message may have come after the last, empty fetch.
    if (this.#mayContinue(owned) && this.#hasMore(owned)) void this.#pump(owned)
  }

  #mayContinue(owned: OwnedPartition): boolean {
    return this.#isRunning && !this.#isJoining && !owned.isLost && owned.endPause === undefined
  }

  #hasMore({ id, position }: OwnedPartition): boolean {
    return position !== undefined && this.#parts.broker.log.end(id.topic, id.partition) > position
  }

  async #fetch(owned: OwnedPartition): Promise<IncomingMessage[] | 'unreachable'> {
    const { topic, partition } = owned.id
    const { log } = this.#parts.broker
    try {
      return await this.#call('fetch', () => {
        if (!log.hasLeader(topic, partition)) throw this.#parts.broker.unreachable()
        owned.position ??= this.#firstOf(owned.id)
        return log.read(topic, partition, owned.position, this.#options.maxBatchMessages ?? DEFAULT_BATCH_MESSAGES)
      })
    } catch {
      this.#progress()
      return 'unreachable'
    }
  }

  async #handle(owned: OwnedPartition, messages: IncomingMessage[]): Promise<BatchProgress> {
    const { tracker } = owned
    const offsets = messages.map(({ offset }) => offset)
    tracker.trackHandedOut(offsets)
    let progress: BatchProgress
    try {
      const given = await this.#options.onBatch(this.#batch(owned, messages))
      const accepted = Math.min(Math.max(0, given.accepted), messages.length)
      const rest = accepted < messages.length ? { resumeAfterMs: SHORTEST_PAUSE_MS } : {}
      progress = { ...rest, ...given, accepted }
      owned.faults = 0
    } catch (error) {
      const [first, longest] = FAULT_PAUSE_MS
      progress = { accepted: 0, resumeAfterMs: Math.min(first * 2 ** owned.faults, longest) }
      owned.faults += 1
      this.#parts.logger?.error({ error, ...owned.id }, 'consumer.fault')
    }
    tracker.withdraw(offsets.slice(progress.accepted))
    const acceptedOffsets = offsets.slice(0, progress.accepted)
    if (this.#options.commit === 'accepted') for (const offset of acceptedOffsets) tracker.complete(offset)
    const last = acceptedOffsets.at(-1)
    if (last !== undefined) owned.position = last + 1n
    this.#commitSoon()
    return progress
  }

  #firstOf(id: PartitionId): bigint {
    const { onlyRecentMs } = this.#options
    if (onlyRecentMs === undefined) return this.#group.committed.get(nameOf(id)) ?? 0n
    return this.#parts.broker.log.firstSince(id.topic, id.partition, this.#parts.clock.now() - onlyRecentMs)
  }

  #batch(owned: OwnedPartition, messages: IncomingMessage[]): Batch {
    const settle = (act: () => void) => {
      act()
      this.#commitSoon()
      this.#check()
    }
    return {
      ...owned.id,
      messages,
      signal: owned.controller.signal,
      heartbeat: async () => this.#progress(),
      complete: ({ offset }) => settle(() => owned.tracker.complete(offset)),
      abandon: ({ offset }) => settle(() => owned.tracker.abandon(offset)),
    }
  }

  #commitSoon(): void {
    if (this.#isCommitting) this.#commitAgain = true
    else void this.#commit()
  }

  async #commit(): Promise<void> {
    if (!this.commits) return
    const due = [...this.#owned.values()].flatMap(owned => {
      const offset = owned.isLost ? undefined : owned.tracker.committable()
      return offset === undefined ? [] : [{ owned, offset }]
    })
    if (due.length === 0) return
    this.#isCommitting = true
    const generation = this.#generation
    const offsets = due.map(({ owned, offset }) => [nameOf(owned.id), offset] as const)
    this.#group.commitSent()
    try {
      const isAccepted = await this.#call('commit', () => this.#group.commit(this, generation, offsets))
      if (isAccepted) for (const { owned, offset } of due) owned.tracker.committed(offset)
      else if (this.#group.isMember(this)) this.#commitAgain = true
      else if (this.#isRunning) this.#startAgain()
    } catch {
      this.#commitAgain = true
    }
    this.#isCommitting = false
    this.#check()
    if (!this.#commitAgain) return
    this.#commitAgain = false
    this.#parts.clock.schedule(SHORTEST_PAUSE_MS, () => this.#commitSoon())
  }

  /** The coordinator no longer knows this member: everything that it owned belongs to others now. */
  #startAgain(): void {
    for (const owned of [...this.#owned.values()]) this.#release(owned)
    void this.#join()
  }

  #pause(owned: OwnedPartition, ms: number): void {
    if (owned.isLost) return
    const cancel = this.#parts.clock.schedule(Math.max(0, ms), () => {
      owned.endPause = undefined
      void this.#pump(owned)
    })
    owned.endPause = () => {
      cancel()
      owned.endPause = undefined
    }
  }

  #interrupt(owned: OwnedPartition): void {
    owned.controller.abort()
    owned.endPause?.()
  }

  #release(owned: OwnedPartition): void {
    this.#interrupt(owned)
    owned.isLost = true
    owned.unfollow()
    this.#owned.delete(nameOf(owned.id))
  }

  #progress(): void {
    this.#lastProgressAt = this.#parts.clock.now()
  }

  #until(isDone: () => boolean, timeoutMs?: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = timeoutMs === undefined ? () => {} : this.#parts.clock.schedule(timeoutMs, resolve)
      const done = () => {
        cancel()
        resolve()
      }
      this.#waiters.push({ isDone, resolve: done })
      this.#check()
    })
  }

  #check(): void {
    const done = this.#waiters.filter(waiter => waiter.isDone())
    this.#waiters = this.#waiters.filter(waiter => !done.includes(waiter))
    for (const waiter of done) waiter.resolve()
  }

  #call<T>(name: string, act: () => T): Promise<T> {
    const { wire, broker } = this.#parts
    const command = {
      server: 'kafka' as const,
      name: `${this.#options.groupId}.${name}`,
      isWrite: false,
      broken: () => broker.unreachable(),
    }
    return wire.call(command, act)
  }

  /** Repeats a request until the broker carries it out. */
  async #persist(name: string, act: () => void): Promise<void> {
    for (;;) {
      try {
        return await this.#call(name, act)
      } catch {
        this.#progress()
        await new Promise<void>(resolve => this.#parts.clock.schedule(UNREACHABLE_PAUSE_MS, resolve))
      }
    }
  }
}
