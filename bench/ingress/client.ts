/** Posts prepared bytes over a keep-alive socket, without an HTTP client, which would use more of the shared cores than the server. */
import { connect, type Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /content-length: (\d+)/i

export interface ClientEvents {
  /** The socket is open and has no request in flight. */
  onFree(client: Client): void
  onAnswer(status: string, client: Client): void
  /** The socket is closed. Another one opens. */
  onClose(client: Client): void
}

/** One socket with at most one request in flight. It opens the next socket when the server closes this one. */
export class Client {
  readonly #port: number
  readonly #events: ClientEvents
  #socket: Socket | undefined
  #unread = ''
  #isStopped = false

  constructor(port: number, events: ClientEvents) {
    this.#port = port
    this.#events = events
  }

  open(): void {
    if (this.#isStopped) return
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    this.#unread = ''
    socket.setEncoding('latin1')
    socket.on('connect', () => this.#events.onFree(this))
    socket.on('data', (chunk: string) => this.#read(chunk))
    // A reset connection is opened again by 'close'.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!this.#isStopped) this.#events.onClose(this)
      this.open()
    })
  }

  post(request: Buffer): void {
    this.#socket?.write(request)
  }

  /** Closes the socket, and opens another one. */
  reset(): void {
    this.#socket?.destroy()
  }

  stop(): void {
    this.#isStopped = true
    this.#socket?.destroy()
  }

  #read(chunk: string): void {
    const text = this.#unread + chunk
    const headEnd = text.indexOf(HEAD_END)
    const head = headEnd < 0 ? '' : text.slice(0, headEnd)
    const length = headEnd + HEAD_END.length + Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0)
    if (headEnd < 0 || text.length < length) {
      this.#unread = text
      return
    }
    this.#unread = ''
    this.#events.onAnswer(text.slice(9, 12), this)
    if (head.toLowerCase().includes('connection: close')) this.#socket?.end()
    else this.#events.onFree(this)
  }
}
