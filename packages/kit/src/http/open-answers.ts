import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../clock/clock.ts'
import type { ClientDelay } from './socket-table.ts'

/** How long a client may take to read an answer, in milliseconds. */
const UNREAD_AFTER_MS = 15_000
const CHECK_EVERY_MS = 1_000

/** The delay caused by a client; null while any of its requests waits for the server. @param answers those not received yet */
export function clientDelay(answers: ReadonlySet<ServerResponse>): ClientDelay | null {
  let delay: ClientDelay | null = null
  for (const response of answers) {
    if (response.writableEnded) delay ??= 'unread_answer'
    else if (!response.req.complete) delay = 'slow_request'
    else return null
  }
  return delay
}

/** Tracks the answers that clients have not received yet, and reports sockets whose client does not read. */
export class UnreceivedAnswers {
  readonly #clock: Clock
  readonly #onUnread: (socket: Socket) => void
  readonly #bySocket = new Map<Socket, ReadonlySet<ServerResponse>>()
  /** The time when a check first found the answer written but not received. */
  readonly #writtenAtMs = new WeakMap<ServerResponse, number>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, onUnread: (socket: Socket) => void) {
    this.#clock = clock
    this.#onUnread = onUnread
  }

  /** @param answers the unreceived answers of the socket in the order of the requests, kept up to date by the caller. The first one is being sent. */
  watch(socket: Socket, answers: ReadonlySet<ServerResponse>): void {
    this.#bySocket.set(socket, answers)
    this.#cancel ??= this.#clock.schedule(CHECK_EVERY_MS, () => this.#checkUnread())
  }

  /** Call it when the socket is closed, because Node.js does not close responses that wait behind another one. */
  forget(socket: Socket): void {
    this.#bySocket.delete(socket)
  }

  stop(): void {
    this.#cancel?.()
  }

  #checkUnread(): void {
    const nowMs = this.#clock.now()
    for (const [socket, [sending]] of this.#bySocket) {
      if (sending === undefined || !sending.writableEnded) continue
      const writtenAtMs = this.#writtenAtMs.get(sending) ?? nowMs
      this.#writtenAtMs.set(sending, writtenAtMs)
      if (nowMs - writtenAtMs < UNREAD_AFTER_MS) continue
      this.forget(socket)
      this.#onUnread(socket)
    }
    const isIdle = this.#bySocket.size === 0
    this.#cancel = isIdle ? undefined : this.#clock.schedule(CHECK_EVERY_MS, () => this.#checkUnread())
  }
}
