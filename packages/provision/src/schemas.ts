import { MESSAGES, type MessageName, registrySchema, registrySubject, schemaKey, schemaText } from '@backstop/contracts'
import type { RegistryClient, SchemaIdStore } from '@backstop/kit'
import type { Report } from './report.ts'

const COMPATIBILITY = 'BACKWARD_TRANSITIVE'

/**
 * Registers the present schema of every message type and keeps its id in `schema_ids`. The level is set before the first
 * version, so that no version ever goes unchecked.
 * @throws AppError `conflict` when a schema is incompatible with an earlier version
 */
export async function provisionSchemas(
  registry: RegistryClient,
  schemaIds: SchemaIdStore,
  topicPrefix: string,
  registeredAt: Date,
  report: Report,
): Promise<void> {
  for (const name of Object.keys(MESSAGES) as MessageName[]) {
    const subject = registrySubject(name, topicPrefix)
    if ((await registry.compatibility(subject)) !== COMPATIBILITY) {
      await orDoneByAnother(
        () => registry.setCompatibility(subject, COMPATIBILITY),
        async () => (await registry.compatibility(subject)) === COMPATIBILITY,
      )
      report(`schema ${subject}: compatibility is now ${COMPATIBILITY}`)
    }
    const text = schemaText(registrySchema(name))
    const known = await registry.lookUp(subject, text)
    const schemaId = known ?? (await register(registry, subject, text))
    await schemaIds.save({ key: schemaKey(name), schemaId, message: name, registeredAt })
    report(`schema ${subject}: ${known === undefined ? 'registered' : 'is known'} with id ${schemaId}`)
  }
}

async function register(registry: RegistryClient, subject: string, text: string): Promise<number> {
  let schemaId: number | undefined
  await orDoneByAnother(
    async () => {
      schemaId = await registry.register(subject, text)
    },
    async () => {
      schemaId = await registry.lookUp(subject, text)
      return schemaId !== undefined
    },
  )
  return schemaId!
}

/** A registry refuses the second of two jobs that do the same at the same time; then what counts is what is there. */
async function orDoneByAnother(act: () => Promise<void>, isDone: () => Promise<boolean>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(await isDone())) throw error
  }
}
