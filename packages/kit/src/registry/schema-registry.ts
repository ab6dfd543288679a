import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { AppError } from '../errors.ts'
import { exchangeOverHttp, type RegistryExchange } from './registry-exchange.ts'

export type { SchemaRegistry } from '@kafkajs/confluent-schema-registry'

type ClientOptions = ConstructorParameters<typeof SchemaRegistry>[0]
type Middleware = NonNullable<ClientOptions['middlewares']>[number]
type CachedSchema = Parameters<SchemaRegistry['cache']['setSchema']>[2]

/** Reads what another release wrote. Formats (date-time and the like) are zod's matter, and ajv knows none by itself. */
const JSON_OPTIONS = { strict: false, validateFormats: false, logger: false } as const

/**
 * Access to a schema registry with a Confluent-compatible API. Schemas that it fetched once stay in its cache.
 * Nothing is retried here: the deploy job, a start and the work loop each have a pace of their own.
 * @param baseUrl the API's base, e.g. Apicurio's ends in /apis/ccompat/v7; may hold user and password
 */
export function createSchemaRegistry(baseUrl: string, exchange: RegistryExchange = exchangeOverHttp): SchemaRegistry {
  const url = new URL(baseUrl)
  const auth = { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  url.username = ''
  url.password = ''
  // Listed last is outermost, and it never asks the next: the request is complete then, only its way is ours.
  const transport = (() => ({
    response: async (_next: unknown, _renew: unknown, request: Parameters<RegistryExchange>[0]) => {
      const answer = await exchange(request)
      return { data: () => answer }
    },
  })) as unknown as Middleware
  const options: ClientOptions = { host: url.href, clientId: 'backstop', middlewares: [transport] }
  if (auth.username !== '') options.auth = auth
  return new SchemaRegistry(options, { [SchemaType.JSON]: JSON_OPTIONS })
}

/**
 * The id of exactly this schema under the subject; undefined when it is not registered there.
 * @throws AppError as a {@link RegistryExchange} does
 */
export async function findSchemaId(
  registry: SchemaRegistry,
  subject: string,
  schema: string,
): Promise<number | undefined> {
  let id: unknown
  try {
    id = await registry.getRegistryIdBySchema(subject, { type: SchemaType.JSON, schema })
  } catch (error) {
    // Its only error of this class; it does not export the class.
    if (error instanceof Error && error.name === 'ConfluentSchemaRegistryError') return undefined
    throw error
  }
  return checkedId(id)
}

/**
 * Registers a schema and answers its id: the id it has already where it is known. A subject's first version also gets
 * the level BACKWARD_TRANSITIVE. Safe to repeat: a job that ended between the two steps is completed by the next, and until
 * then a second version would not be compared with the first.
 * @throws AppError `conflict` when the registry finds the schema incompatible with an earlier version, or the subject has
 *   another level; otherwise as a {@link RegistryExchange} does
 */
export async function registerSchema(registry: SchemaRegistry, subject: string, schema: string): Promise<number> {
  try {
    const { id } = await registry.register(
      { type: SchemaType.JSON, schema },
      { subject, compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE },
    )
    return checkedId(id)
  } catch (error) {
    if (error instanceof Error && error.name === 'ConfluentSchemaRegistryCompatibilityError') {
      throw new AppError('conflict', `${subject}: ${error.message}: restore it at the registry`, { cause: error })
    }
    if (!(error instanceof AppError) || error.retryable) throw error
    throw new AppError(error.code, `${subject}: ${error.message}`, { cause: error })
  }
}

/** What the registry calls an id is written into every message: nothing else than a number may pass for one. */
function checkedId(id: unknown): number {
  if (Number.isInteger(id)) return id as number
  throw new AppError(
    'internal',
    'The schema registry answered without a schema id: is SCHEMA_REGISTRY_URL its ccompat API?',
  )
}

/**
 * Lets {@link SchemaRegistry.decode} read messages of this id without asking the registry. What it reads is only JSON then:
 * for whoever checks it by a schema of their own.
 */
export function trustSchemaId(registry: SchemaRegistry, schemaId: number): void {
  registry.cache.setSchema(schemaId, SchemaType.JSON, plainJson)
}

const plainJson: CachedSchema = {
  toBuffer: message => Buffer.from(JSON.stringify(message)),
  fromBuffer: (json: Buffer) => JSON.parse(json.toString('utf8')),
  isValid: () => true,
}
