import type { Socket } from 'node:net'

/** Return value that stops llhttp. Node.js uses it for upgrades, after which the bytes are not HTTP. */
const STOP_PARSING = 2

/** The parser that Node's HTTP server attaches to a socket. Undocumented, but unchanged since Node 12. */
interface Parser {
  onIncoming?: (...parts: unknown[]) => number
}

/**
 * Calls a guard before Node.js parses each request of a socket. One received chunk of 64 KiB may contain 2,000 requests, and
 * Node.js parses all of them before other code runs. Without the guard a destroyed socket would still have them all parsed.
 * @param mayGoOn return false to stop parsing the received bytes; destroy the socket then
 * @returns false if the parser of this version of Node.js cannot be guarded; then the guard is never called
 */
export function guardParsing(socket: Socket, mayGoOn: () => boolean): boolean {
  const { parser } = socket as Socket & { parser?: Parser | null }
  const onIncoming = parser?.onIncoming
  if (parser == null || onIncoming === undefined) return false
  parser.onIncoming = (...parts) => (mayGoOn() ? onIncoming(...parts) : STOP_PARSING)
  return true
}
