import type { Socket } from 'node:net'

/** Return value that stops llhttp. Node.js uses it for upgrades, after which the bytes are not HTTP. */
const STOP_PARSING = 2

/** The parser that Node's HTTP server attaches to a socket. Undocumented, but unchanged since Node 12. */
interface Parser {
  onIncoming?: (...parts: unknown[]) => number
}

/**
 * Calls a guard before each request of a socket is parsed. Node.js parses all received bytes before other code runs,
 * and one chunk of 64 KiB may contain 2,000 requests: destroying the socket has no effect until all of them exist.
 * @param mayGoOn return false to stop parsing the received bytes; destroy the socket then
 * @returns false if this version of Node.js has no such parser; nothing is guarded then
 */
export function guardParsing(socket: Socket, mayGoOn: () => boolean): boolean {
  const { parser } = socket as Socket & { parser?: Parser | null }
  const onIncoming = parser?.onIncoming
  if (parser == null || onIncoming === undefined) return false
  parser.onIncoming = (...parts) => (mayGoOn() ? onIncoming(...parts) : STOP_PARSING)
  return true
}
