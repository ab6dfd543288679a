/** The network between one process and one server. Every connection goes through it, also those to addresses that the server advertises. */
import type { Socket } from 'node:net'
import { type ProxyMode, startTcpProxy } from '@backstop/kit/test'

export const LINKED_SERVERS = ['kafka', 'mongo', 'registry'] as const
export type LinkedServer = (typeof LINKED_SERVERS)[number]

/** A disturbance that lasts. `silent`: bytes are dropped, and connections that lost one stay silent for good (half-open). */
export type Disturbance =
  | { readonly kind: 'silent' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'slow'; readonly delayMs: number; readonly bytesPerSecond: number }

const MODES = { silent: 'black_hole', refused: 'refuse', slow: 'pass' } as const satisfies Record<
  Disturbance['kind'],
  ProxyMode
>

export interface Link {
  /** The URL or the address of the server through this link. */
  readonly url: string
  /** Begins a disturbance in place of an earlier one. */
  disturb(disturbance: Disturbance): void
  /** Ends every disturbance. Connections that are silent stay so. */
  heal(): void
  /** Resets all connections. */
  cut(): void
  /** Lets the server carry out the next write, and resets its connection in place of the answer. */
  loseAnswer(): void
  stop(): Promise<void>
}

/** @param url as the services would get it without a link */
export async function openLink(server: LinkedServer, url: string): Promise<Link> {
  const { host, hostname, port } = new URL(server === 'kafka' ? `kafka://${url}` : url)
  const proxy = await startTcpProxy(
    { host: hostname, port: Number(port) },
    { rewriteResponse: chunk => replaceAll(chunk, advertised, replacement) },
  )
  const [advertised, replacement] = [
    addressIn(server, hostname, port),
    addressIn(server, '127.0.0.1', proxy.address.port),
  ]
  if (advertised.length !== replacement.length)
    throw new Error(`The address ${host} of ${server} is not as long as 127.0.0.1:${proxy.address.port}`)
  let isLosing = false
  let victim: Socket | undefined
  proxy.onRequest = (chunk, client) => {
    if (isLosing && isWrite(server, chunk)) {
      isLosing = false
      victim = client
    }
  }
  proxy.passResponse = (_chunk, client) => client !== victim
  return {
    url: url.replace(host, `127.0.0.1:${proxy.address.port}`),
    disturb(disturbance) {
      proxy.mode = MODES[disturbance.kind]
      proxy.delayMs = disturbance.kind === 'slow' ? delayOf(disturbance) : () => 0
    },
    heal() {
      proxy.mode = 'pass'
      proxy.delayMs = () => 0
      isLosing = false
    },
    cut: () => proxy.cutAll(),
    loseAnswer() {
      isLosing = true
    },
    stop: () => proxy.stop(),
  }
}

function delayOf({ delayMs, bytesPerSecond }: Extract<Disturbance, { kind: 'slow' }>) {
  return (chunk: Buffer) => delayMs + (chunk.length / bytesPerSecond) * 1_000
}

/** An address in the form in which the server's answers contain it. */
function addressIn(server: LinkedServer, host: string, port: string | number): Buffer {
  if (server !== 'kafka') return Buffer.from(`${host}:${port}`)
  // Metadata and coordinators: the host, followed by the port in four bytes (https://kafka.apache.org/protocol).
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(Number(port))
  return Buffer.concat([Buffer.from(host), bytes])
}

/** Replaces bytes by others of the same length, so that lengths in the message stay right. */
export function replaceAll(chunk: Buffer, from: Buffer, to: Buffer): Buffer {
  for (let at = chunk.indexOf(from); at !== -1; at = chunk.indexOf(from, at + from.length)) to.copy(chunk, at)
  return chunk
}

/** Kafka's numbers of the requests that change something: Produce and OffsetCommit. */
const KAFKA_WRITES = new Set([0, 8])
const MONGO_WRITES = ['insert', 'update', 'delete', 'findAndModify', 'commitTransaction']

/** Whether the chunk begins with a request that changes something. */
export function isWrite(server: LinkedServer, chunk: Buffer): boolean {
  switch (server) {
    case 'kafka':
      // The size of the request in four bytes, and its number in two.
      return chunk.length > 6 && KAFKA_WRITES.has(chunk.readInt16BE(4))
    case 'mongo': {
      // OP_MSG: header, flags, the kind of the section, the size of its document and the type of its first field, which names the command.
      const name = chunk.toString('latin1', 26, chunk.indexOf(0, 26))
      return MONGO_WRITES.includes(name)
    }
    case 'registry':
      return false
    default:
      return server satisfies never
  }
}
