import type { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'

/** The members of kafkajs 2.2.4's `src/network/connection.js` that the patch uses. */
interface Connection {
  socket: Socket | undefined
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  authHandlers: unknown
  readonly requestQueue: RequestQueue
  isConnected(): boolean
  connect(): Promise<unknown>
  disconnect(): Promise<unknown>
  processData(bytes: Buffer): void
  rejectRequests(error: Error): void
}

/** The members of kafkajs 2.2.4's `src/network/requestQueue/index.js` that the patch uses. */
interface RequestQueue extends EventEmitter {
  readonly enforceRequestTimeout: boolean
  readonly requestTimeout: number
  readonly inflight: Map<number, { readonly sentAt: number; readonly requestTimeout: number; timeoutRequest(): void }>
  readonly pending: readonly unknown[]
  requestTimeoutIntervalId: NodeJS.Timeout | undefined
  isConnected(): boolean
  destroy(): void
  scheduleRequestTimeoutCheck(): void
}

type ConnectionClass = { prototype: Connection; readonly patched?: boolean }

const require = createRequire(import.meta.url)
const TIMED_OUT = 'backstop:request-timed-out'
/** Every response begins with its size, in this number of bytes. */
const SIZE_BYTES = 4
const TIMEOUT_CHECK_MS = 100

/**
 * Fixes how kafkajs 2.2.4 handles failing connections. Unpatched, each of these bugs permanently stops a consumer or
 * the whole process after a network fault (https://github.com/tulios/kafkajs/issues/715, /1374, /1691):
 * - Two concurrent calls of `connect` open two sockets that feed one parser. Patched: they share one attempt.
 * - Half a response of the previous socket stays in the parser of the next one. Patched: each socket starts with an
 * empty parser, and the previous socket is destroyed.
 * - A parser that reads invalid bytes throws in the socket's handler, where no code catches the error. Patched: the
 * connection ends.
 * - A request without an answer leaves its connection in use; on a dead connection every later request times out, too,
 * until the kernel closes it after a quarter of an hour. Patched: the connection ends, as in the Java client.
 * - A request that is added while a connection ends has no timeout. Patched: it is rejected.
 */
export function patchKafkajsConnections(): void {
  const ConnectionOf = require('kafkajs/src/network/connection') as ConnectionClass
  if (ConnectionOf.patched) return
  Object.defineProperty(ConnectionOf, 'patched', { value: true })
  patchConnect(ConnectionOf.prototype)
  patchProcessData(ConnectionOf.prototype)
  patchDisconnect(ConnectionOf.prototype)
  patchRequestTimeouts(require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue })
}

function patchConnect(prototype: Connection): void {
  const connectOnce = prototype.connect
  const attempts = new WeakMap<Connection, Promise<unknown>>()
  prototype.connect = function connectShared(this: Connection) {
    if (this.isConnected()) return Promise.resolve(true)
    const pending = attempts.get(this)
    if (pending !== undefined) return pending
    discardSocket(this)
    const attempt = connectOnce
      .call(this)
      .catch(error => {
        // A socket that connects after the time limit would still be used as the connection.
        discardSocket(this)
        throw error
      })
      .finally(() => attempts.delete(this))
    attempts.set(this, attempt)
    this.requestQueue.removeAllListeners(TIMED_OUT)
    this.requestQueue.on(TIMED_OUT, () => endSocket(this, 'A request got no answer in time'))
    return attempt
  }
}

function discardSocket(connection: Connection): void {
  const { socket } = connection
  if (socket !== undefined) {
    socket.removeAllListeners()
    socket.on('error', () => undefined)
    socket.destroy()
  }
  connection.chunks = []
  connection.bytesBuffered = 0
  connection.bytesNeeded = SIZE_BYTES
  connection.authHandlers = null
}

/**
 * Ends the connection like a socket error: kafkajs rejects the requests in flight and reconnects with the next request.
 */
function endSocket(connection: Connection, reason: string): void {
  connection.socket?.destroy(new Error(reason))
}

function patchProcessData(prototype: Connection): void {
  const processData = prototype.processData
  prototype.processData = function processGuarded(this: Connection, bytes: Buffer) {
    try {
      processData.call(this, bytes)
    } catch {
      endSocket(this, 'A response could not be read')
    }
  }
}

function patchDisconnect(prototype: Connection): void {
  const disconnect = prototype.disconnect
  const { KafkaJSConnectionError } = require('kafkajs/src/errors') as {
    KafkaJSConnectionError: new (m: string) => Error
  }
  prototype.disconnect = async function disconnectWhole(this: Connection) {
    const answer = await disconnect.call(this)
    const { inflight, pending } = this.requestQueue
    if (!this.isConnected() && inflight.size + pending.length > 0) {
      this.rejectRequests(new KafkaJSConnectionError('The connection was closed'))
    }
    return answer
  }
}

function patchRequestTimeouts(queue: { prototype: RequestQueue }): void {
  queue.prototype.scheduleRequestTimeoutCheck = function checkTimeouts(this: RequestQueue) {
    if (!this.enforceRequestTimeout) return
    this.destroy()
    this.requestTimeoutIntervalId = setInterval(
      () => {
        const late = [...this.inflight.values()].filter(
          ({ sentAt, requestTimeout }) => Date.now() - sentAt > requestTimeout,
        )
        for (const request of late) request.timeoutRequest()
        if (!this.isConnected()) this.destroy()
        else if (late.length > 0) this.emit(TIMED_OUT)
      },
      Math.min(this.requestTimeout, TIMEOUT_CHECK_MS),
    )
  }
}
