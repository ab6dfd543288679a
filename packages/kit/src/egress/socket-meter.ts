import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import { egressFailed } from './failure.ts'

/** Bytes that may arrive before the first request, for example session tickets or a TLS alert. */
const BYTES_BEFORE_REQUEST = 65_536
/** Interval of checks for bytes that arrive without an event, in milliseconds. */
const CHECK_EVERY_MS = 100

/** A handler that receives the byte meter of its request's connection. */
export interface MeteredHandler extends Dispatcher.DispatchHandler {
  useMeter(meter: SocketMeter): void
}

/**
 * Counts the bytes that arrive on one connection, and closes it beyond the limit of the request. It counts below the
 * HTTP parser and below TLS, because both hide bytes: an endless chunk extension, interim response or TLS renegotiation
 * reaches no handler.
 */
export class SocketMeter {
  #socket: Socket | undefined
  #limit = 0

  /** Starts counting on this socket. */
  follow(socket: Socket): void {
    this.#socket = socket
    this.allow(BYTES_BEFORE_REQUEST)
    const check = () => this.#check(socket)
    // The listener runs before the parser reads the bytes that the event announces.
    socket.on('readable', check)
    socket.on('session', check)
    // A renegotiation causes neither event.
    const timer = setInterval(check, CHECK_EVERY_MS).unref()
    socket.once('close', () => clearInterval(timer))
  }

  /** Sets how many more bytes may arrive. Replaces the remainder of an earlier call. */
  allow(bytes: number): void {
    if (this.#socket !== undefined) this.#limit = rawBytesRead(this.#socket) + bytes
  }

  #check(socket: Socket): void {
    if (socket === this.#socket && !socket.destroyed && rawBytesRead(socket) > this.#limit) {
      socket.destroy(egressFailed('raw_response_too_large'))
    }
  }
}

/** undici's client of one connection, with a byte meter for its requests. */
export class MeteredClient extends Client {
  readonly #meter: SocketMeter

  constructor(origin: string | URL, options: Client.Options) {
    const meter = new SocketMeter()
    const connect = options.connect as Extract<Client.Options['connect'], (...given: never) => unknown>
    super(origin, {
      ...options,
      connect: (target, callback) =>
        connect(target, (...result) => {
          // After an error, undici's connectors return undefined where their types declare null.
          const socket: Socket | null | undefined = result[1]
          if (socket) meter.follow(socket)
          callback(...result)
        }),
    })
    this.#meter = meter
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('useMeter' in handler) (handler as MeteredHandler).useMeter(this.#meter)
    return super.dispatch(options, handler)
  }
}

interface Handle {
  readonly bytesRead?: number
  readonly _parent?: Handle
}

/**
 * Number of bytes that arrived over the network. `bytesRead` of a TLS socket counts decrypted bytes only; its
 * undocumented `_handle` counts all bytes. If Node.js renames the handle, decrypted bytes are counted, and the test of
 * renegotiation fails.
 */
function rawBytesRead(socket: Socket): number {
  let handle = (socket as Socket & { _handle?: Handle })._handle
  while (handle?._parent !== undefined && handle._parent !== null) handle = handle._parent
  return Math.max(handle?.bytesRead ?? 0, socket.bytesRead)
}
