import type { BatchProgress, Consumer, ConsumerOptions, IncomingMessage } from '../../src/bus/bus.ts'
import { OffsetTracker } from '../../src/bus/consumer/offset-tracker.ts'
import type { Clock } from '../../src/clock/clock.ts'
import type { Logger } from '../../src/logger.ts'
import { type GroupMember, idOf, type MemoryGroup, type PartitionId } from './memory-group.ts'
import type { MemoryLog } from './memory-log.ts'

const DEFAULT_BATCH_MESSAGES = 500
const DEFAULT_DRAIN_MS = 15_000
/** The same pauses as in the Kafka bus, in milliseconds. */
const SHORTEST_PAUSE_MS = 50
const FAULT_PAUSE_MS = [500, 30_000] as const

/** A partition assigned to a consumer. */
interface AssignedPartition {
  readonly id: PartitionId
  readonly tracker: OffsetTracker
  readonly controller: AbortController
  position: bigint
  busy: boolean
  faults: number
  lost: boolean
  cancelResume: (() => void) | undefined
}

/** The consumer of the bus in memory. Its pauses use the clock port; nothing else in it takes time. */
export class MemoryConsumer implements Consumer, GroupMember {
  readonly #log: MemoryLog
  readonly #group: MemoryGroup
  readonly #clock: Clock
  readonly #logger: Logger | undefined
  readonly #options: ConsumerOptions
  readonly #held = new Map<string, AssignedPartition>()
  #running = false
  #lastProgressAt = Number.NEGATIVE_INFINITY
  #quietWaiters: { isIdle: () => boolean; resolve: () => void }[] = []

  constructor(log: MemoryLog, group: MemoryGroup, clock: Clock, logger: Logger | undefined, options: ConsumerOptions) {
    this.#log = log
    this.#group = group
    this.#clock = clock
    this.#logger = logger
    this.#options = options
  }

  get topics() {
    return this.#options.topics
  }

  async start(): Promise<void> {
    this.#running = true
    this.#progress()
    void this.#group.join(this)
  }

  async stop(): Promise<void> {
    if (!this.#running) return
    this.#running = false
    for (const holding of this.#held.values()) this.#interrupt(holding)
    await this.#waitUntilIdle(holding => !holding.busy && holding.tracker.openCount === 0, this.#options.drainTimeoutMs)
    this.kill()
  }

  /** Ends as if by SIGKILL: nothing more is delivered or committed. */
  kill(): void {
    this.#running = false
    for (const holding of this.#held.values()) this.#releasePartition(holding)
    void this.#group.leave(this)
  }

  msSinceProgress(): number {
    return this.#clock.now() - this.#lastProgressAt
  }

  async revoke(partitions: readonly PartitionId[]): Promise<void> {
    const going = partitions.flatMap(partition => this.#held.get(idOf(partition)) ?? [])
    for (const holding of going) this.#interrupt(holding)
    await this.#waitUntilIdle(holding => !going.includes(holding) || !holding.busy, undefined)
    for (const holding of going) this.#releasePartition(holding)
  }

  assign(partitions: readonly PartitionId[]): void {
    const wanted = new Set(partitions.map(idOf))
    for (const [id, holding] of this.#held) if (!wanted.has(id)) this.#releasePartition(holding)
    for (const id of partitions) {
      if (this.#held.has(idOf(id)) || !this.#running) continue
      const position = this.#group.committed.get(idOf(id)) ?? 0n
      const state = { position, busy: false, faults: 0, lost: false, cancelResume: undefined }
      const holding: AssignedPartition = {
        id,
        tracker: new OffsetTracker(),
        controller: new AbortController(),
        ...state,
      }
      this.#held.set(idOf(id), holding)
      void this.#pump(holding)
    }
  }

  /** Looks for new messages. Called after every send. */
  wake(): void {
    for (const holding of this.#held.values()) void this.#pump(holding)
  }

  #progress(): void {
    this.#lastProgressAt = this.#clock.now()
  }

  async #pump(holding: AssignedPartition): Promise<void> {
    if (holding.busy) return
    holding.busy = true
    // Never run consumers' handlers inside the producer's call.
    await Promise.resolve()
    while (this.#running && !holding.controller.signal.aborted && holding.cancelResume === undefined) {
      const batch = this.#next(holding)
      if (batch.length === 0) break
      const { resumeAfterMs } = await this.#handle(holding, batch)
      this.#progress()
      if (resumeAfterMs !== undefined && !holding.lost) {
        holding.cancelResume = this.#clock.schedule(Math.max(0, resumeAfterMs), () => {
          holding.cancelResume = undefined
          void this.#pump(holding)
        })
      }
    }
    holding.busy = false
    this.#checkIdle()
    // Look again for messages that arrived while the last batch was found empty: otherwise they would wait for the next
    // send.
    if (holding.cancelResume === undefined && this.#running && this.#next(holding).length > 0 && !holding.lost) {
      if (!holding.controller.signal.aborted) void this.#pump(holding)
    }
  }

  #next({ id, position }: AssignedPartition): IncomingMessage[] {
    const from = Number(position)
    const size = this.#options.maxBatchMessages ?? DEFAULT_BATCH_MESSAGES
    return this.#log.partition(id.topic, id.partition).slice(from, from + size)
  }

  async #handle(holding: AssignedPartition, messages: IncomingMessage[]): Promise<BatchProgress> {
    const { tracker } = holding
    const offsets = messages.map(({ offset }) => offset)
    tracker.trackHandedOut(offsets)
    let progress: BatchProgress
    try {
      const given = await this.#options.onBatch(this.#batch(holding, messages))
      const accepted = Math.min(Math.max(0, given.accepted), messages.length)
      const rest = accepted < messages.length ? { resumeAfterMs: SHORTEST_PAUSE_MS } : {}
      progress = { ...rest, ...given, accepted }
      holding.faults = 0
    } catch (error) {
      const [first, longest] = FAULT_PAUSE_MS
      progress = { accepted: 0, resumeAfterMs: Math.min(first * 2 ** holding.faults, longest) }
      holding.faults += 1
      this.#logger?.error({ error, ...holding.id }, 'consumer.fault')
    }
    tracker.withdraw(offsets.slice(progress.accepted))
    if (this.#options.commit === 'accepted')
      for (const offset of offsets.slice(0, progress.accepted)) tracker.complete(offset)
    holding.position += BigInt(progress.accepted)
    this.#commit(holding)
    return progress
  }

  #batch(holding: AssignedPartition, messages: IncomingMessage[]) {
    const settle = (act: () => void) => {
      act()
      this.#commit(holding)
      this.#checkIdle()
    }
    return {
      ...holding.id,
      messages,
      signal: holding.controller.signal,
      heartbeat: async () => this.#progress(),
      complete: ({ offset }: IncomingMessage) => settle(() => holding.tracker.complete(offset)),
      abandon: ({ offset }: IncomingMessage) => settle(() => holding.tracker.abandon(offset)),
    }
  }

  #commit(holding: AssignedPartition): void {
    const offset = holding.tracker.committable()
    if (holding.lost || offset === undefined) return
    this.#group.committed.set(idOf(holding.id), offset)
    holding.tracker.committed(offset)
  }

  #interrupt(holding: AssignedPartition): void {
    holding.controller.abort()
    holding.cancelResume?.()
    holding.cancelResume = undefined
  }

  #releasePartition(holding: AssignedPartition): void {
    this.#interrupt(holding)
    holding.lost = true
    this.#held.delete(idOf(holding.id))
  }

  /** Resolves when `isIdle` holds for every partition, or after `timeoutMs`. */
  #waitUntilIdle(isIdle: (holding: AssignedPartition) => boolean, timeoutMs = DEFAULT_DRAIN_MS): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#clock.schedule(timeoutMs, resolve)
      const waiter = {
        isIdle: () => [...this.#held.values()].every(isIdle),
        resolve: () => {
          cancel()
          resolve()
        },
      }
      this.#quietWaiters.push(waiter)
      this.#checkIdle()
    })
  }

  #checkIdle(): void {
    const done = this.#quietWaiters.filter(waiter => waiter.isIdle())
    this.#quietWaiters = this.#quietWaiters.filter(waiter => !done.includes(waiter))
    for (const waiter of done) waiter.resolve()
  }
}
