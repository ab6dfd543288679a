import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { AppError } from '../errors.ts'
import { createHttpExchange, type RegistryExchange } from './registry-exchange.ts'

export type { SchemaRegistry } from '@kafkajs/confluent-schema-registry'

type ClientOptions = ConstructorParameters<typeof SchemaRegistry>[0]
type Middleware = NonNullable<ClientOptions['middlewares']>[number]
type CachedSchema = Parameters<SchemaRegistry['cache']['setSchema']>[2]

/**
 * Not strict, in order to accept schemas of other releases. zod checks formats (such as date-time), which ajv does not
 * support by itself.
 */
const JSON_OPTIONS = { strict: false, validateFormats: false, logger: false, code: { optimize: false } } as const

/**
 * Creates a client for a schema registry with a Confluent-compatible API. It caches fetched schemas and retries
 * nothing, because its callers retry.
 * @param baseUrl the API's base URL (for Apicurio it ends in /apis/ccompat/v7); may contain user and password
 * @param exchange over HTTP without credentials of its own by default
 */
export function createSchemaRegistry(
  baseUrl: string,
  exchange: RegistryExchange = createHttpExchange(),
): SchemaRegistry {
  const url = new URL(baseUrl)
  const auth = { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  url.username = ''
  url.password = ''
  // The last middleware is the outermost one. It sends the complete request itself and calls no other middleware.
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
 * The id of exactly this schema under the subject; undefined if it is not registered there.
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
    // The library throws only one error of this class, and it does not export the class.
    if (error instanceof Error && error.name === 'ConfluentSchemaRegistryError') return undefined
    throw error
  }
  return checkedId(id)
}

/**
 * Registers a schema and returns its id; a known schema keeps its id. A subject's first version also sets the
 * compatibility level BACKWARD_TRANSITIVE. Safe to repeat: if a run ends between the two steps, the next run completes
 * them; until then a second version would not be compared with the first.
 * @throws AppError `conflict` if the registry finds the schema incompatible with an earlier version, or if the subject
 * has another level; otherwise as a {@link RegistryExchange} does
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

/** Returns the id, which must be a number because it is written into every message. */
function checkedId(id: unknown): number {
  if (Number.isInteger(id)) return id as number
  throw new AppError(
    'internal',
    'The schema registry answered without a schema id: is SCHEMA_REGISTRY_URL its ccompat API?',
  )
}

/**
 * Lets {@link SchemaRegistry.decode} parse messages with this id without a request to the registry. It then checks only
 * that they are JSON, for callers that validate messages themselves.
 */
export function trustSchemaId(registry: SchemaRegistry, schemaId: number): void {
  registry.cache.setSchema(schemaId, SchemaType.JSON, plainJson)
}

const plainJson: CachedSchema = {
  toBuffer: message => Buffer.from(JSON.stringify(message)),
  fromBuffer: (json: Buffer) => JSON.parse(json.toString('utf8')),
  isValid: () => true,
}
