import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Return value that stops llhttp. Node.js uses it for upgrades, after which the bytes are not HTTP. */
const STOP_PARSING = 2

/** Return value after which llhttp reads the body. */
const READ_BODY = 0

/** The parser that Node's HTTP server attaches to a socket. Undocumented, but unchanged since Node 12. */
interface Parser {
  onIncoming?: OnIncoming
  /** The request that gets the body. Node.js drops the body if there is none. */
  incoming: IncomingMessage | null
}
type OnIncoming = (request: IncomingMessage, isKeptAlive: boolean) => number

/**
 * How to go on with a request whose headers are parsed. `stop`: parse no more of the received bytes; destroy the socket then. `skip`: the
 * request is answered; drop its body.
 */
export type ParseDecision = 'handle' | 'skip' | 'stop'

/**
 * Calls a guard for each request of a socket, before Node.js creates a response. One received chunk of 64 KiB may contain 2,000 requests,
 * and Node.js parses all of them before other code runs. Without the guard a destroyed socket would still have them all parsed.
 * @returns false if the parser of this version of Node.js cannot be guarded; then the guard is never called
 */
export function guardParsing(
  socket: Socket,
  decide: (request: IncomingMessage, isKeptAlive: boolean) => ParseDecision,
): boolean {
  const { parser } = socket as Socket & { parser?: Parser | null }
  const onIncoming = parser?.onIncoming
  if (parser == null || onIncoming === undefined) return false
  parser.onIncoming = (request, isKeptAlive) => {
    const decision = decide(request, isKeptAlive)
    switch (decision) {
      case 'handle':
        return onIncoming(request, isKeptAlive)
      case 'skip':
        parser.incoming = null
        return READ_BODY
      case 'stop':
        return STOP_PARSING
      default:
        return decision satisfies never
    }
  }
  return true
}
