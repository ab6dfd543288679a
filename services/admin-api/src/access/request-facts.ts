import type { ErrorCode } from '@backstop/contracts'
import type { Principal } from './rules/access.ts'

/** What becomes known of a request on its way, for its log line. */
export interface RequestFacts {
  readonly requestId: string
  /** Of the client, as far as it is known: a trusted proxy says whom it passes on. Undefined once the connection is gone. */
  readonly address: string | undefined
  /** As the route table has it, never as it was asked for: it is a label of a metric. */
  route: string | undefined
  /** What a refusal is audited as; undefined where none is. */
  operation: string | undefined
  principal: Principal | undefined
  code: ErrorCode | undefined
}
