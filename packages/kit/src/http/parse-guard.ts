import type { Socket } from 'node:net'

/** Return value that stops llhttp; Node uses it for upgrades, after which the bytes are no HTTP. */
const STOP_PARSING = 2

/** The parser that Node's HTTP server ties to a socket. Not documented, and the same since Node 12. */
interface Parser {
  onIncoming?: (...parts: unknown[]) => number
}

/**
 * Asks before each request of a socket whether it may be parsed. Node parses everything that has arrived before other code runs, and one chunk of 64 KiB
 * may hold 2,000 requests: destroying the socket has no effect until all of them exist.
 * @param mayGoOn false ends the parsing of what has arrived; the socket should be destroyed then
 * @returns false when this version of Node has no such parser, and nothing is guarded
 */
export function guardParsing(socket: Socket, mayGoOn: () => boolean): boolean {
  const { parser } = socket as Socket & { parser?: Parser | null }
  const onIncoming = parser?.onIncoming
  if (parser == null || onIncoming === undefined) return false
  parser.onIncoming = (...parts) => (mayGoOn() ? onIncoming(...parts) : STOP_PARSING)
  return true
}
