import type { Socket } from 'node:net'

/** What llhttp takes for "stop here": Node answers it for an upgrade, whose bytes are no HTTP any more. */
const STOP_PARSING = 2

/** The parser that Node's HTTP server ties to a socket. Not documented, and the same since Node 12. */
interface Parser {
  onIncoming?: (...parts: unknown[]) => number
}

/**
 * Asks before each request of a socket whether it may be parsed. Node parses all that has arrived before anything else runs,
 * which from one chunk of 64 KiB may be 2,000 requests: to destroy the socket ends that no sooner than all of them exist.
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
