import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../logger.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Eviction, Limit } from './socket-table.ts'

/** The reason why a socket was closed or refused. Each word is a metric label. */
export type DropReason = `evicted_${Eviction}` | 'refused' | 'pipelined' | 'unread_answer'

/**
 * Interval of log lines, in milliseconds. Each line covers all sockets dropped since the last one, so that a flood of
 * sockets does not flood the log.
 */
const LOG_EVERY_MS = 10_000
/** Maximum number of addresses counted between two log lines. */
const MAX_ADDRESSES = 1_000
const SHOWN_ADDRESSES = 5

/** Counts and logs the sockets that a server closed or refused. */
export class DroppedSockets {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #counter: { inc(labels: { reason: DropReason; limit: Limit | 'socket' }): void }
  readonly #reasons = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  #cancel: (() => void) | undefined

  constructor({ clock, logger, metrics }: { clock: Clock; logger: Logger; metrics: Metrics }) {
    this.#clock = clock
    this.#logger = logger
    this.#counter = metrics.counter('http_sockets_dropped_total', 'TCP connections that a limit closed or refused', [
      'reason',
      'limit',
    ])
  }

  /** @param limit the exhausted limit @param address null for a trusted proxy */
  add(reason: DropReason, limit: Limit | 'socket', address: string | null): void {
    this.#counter.inc({ reason, limit })
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
    const shown = address ?? 'trusted proxy'
    if (this.#addresses.has(shown) || this.#addresses.size < MAX_ADDRESSES) {
      this.#addresses.set(shown, (this.#addresses.get(shown) ?? 0) + 1)
    }
    this.#cancel ??= this.#clock.schedule(LOG_EVERY_MS, () => this.#log())
  }

  stop(): void {
    this.#cancel?.()
    if (this.#reasons.size > 0) this.#log()
  }

  #log(): void {
    this.#cancel = undefined
    const most = [...this.#addresses].sort(([, a], [, b]) => b - a).slice(0, SHOWN_ADDRESSES)
    this.#logger.warn(
      {
        dropped: Object.fromEntries(this.#reasons),
        addresses: this.#addresses.size,
        most_from: Object.fromEntries(most),
      },
      'sockets.dropped',
    )
    this.#reasons.clear()
    this.#addresses.clear()
  }
}
