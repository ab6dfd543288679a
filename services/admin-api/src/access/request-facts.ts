import type { ErrorCode } from '@backstop/contracts'
import type { Identity } from './rules/access.ts'

/** The facts about a request that its log line and its audit row contain. They are filled in while the request is processed. */
export interface RequestFacts {
  readonly requestId: string
  /** Address of the client; behind a trusted proxy, the address that the proxy names. Undefined after the connection closed. */
  readonly address: string | undefined
  /** The path pattern of the route table, never the requested path, because it is a label of a metric. */
  route: string | undefined
  /** The operation that the audit names if the request is refused. Undefined if refusals of this request are not audited. */
  operation: string | undefined
  identity: Identity | undefined
  code: ErrorCode | undefined
  /** Undefined if traces are off. */
  readonly traceId: string | undefined
}
