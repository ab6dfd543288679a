import { z } from 'zod'
import { MESSAGES, type MessageName } from './messages/index.ts'

/**
 * The JSON Schema that the registry holds for a message type: draft-7 (what the registry client's validator reads) and
 * closed, so that BACKWARD_TRANSITIVE lets optional fields be added.
 */
export function registrySchema(name: MessageName): Record<string, unknown> {
  return z.toJSONSchema(MESSAGES[name].schema, { target: 'draft-7', io: 'output' })
}

/** The subject under which the registry keeps a message type's versions. */
export function registrySubject(name: MessageName): string {
  return `${name}-value`
}
