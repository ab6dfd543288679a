import { MESSAGES, type MessageName, registrySchema, registrySubject, schemaKey, schemaText } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { findSchemaId, registerSchema, type SchemaIdStore, type SchemaRegistry } from '@backstop/kit/registry'
import type { Report } from './report.ts'

/** Enough for two refusals by a concurrent job: one of the schema, one of the compatibility level. */
const ATTEMPTS = 3

/**
 * Registers the current schema of every message type and stores its id in `schema_ids`.
 * @throws AppError `conflict` if a schema is incompatible with an earlier version, or if its subject has another level
 * than BACKWARD_TRANSITIVE
 */
export async function provisionSchemas(
  registry: SchemaRegistry,
  schemaIds: SchemaIdStore,
  topicPrefix: string,
  registeredAt: Date,
  report: Report,
): Promise<void> {
  for (const name of Object.keys(MESSAGES) as MessageName[]) {
    const subject = registrySubject(name, topicPrefix)
    const text = schemaText(registrySchema(name))
    const known = await findSchemaId(registry, subject, text)
    // Register a known schema, too, because registering also sets the subject's compatibility level.
    const schemaId = await registerWithRetry(registry, subject, text)
    await schemaIds.save({ key: schemaKey(name), schemaId, message: name, registeredAt })
    report(`schema ${subject}: ${known === undefined ? 'registered' : 'is known'} with id ${schemaId}`)
  }
}

/**
 * Registers a schema beside a concurrent job. The registry refuses the second of two equal concurrent requests, but
 * accepts its repetition.
 */
async function registerWithRetry(registry: SchemaRegistry, subject: string, text: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await registerSchema(registry, subject, text)
    } catch (error) {
      const isRefusal = error instanceof AppError && !error.retryable
      if (!isRefusal || attempt === ATTEMPTS) throw error
    }
  }
}
