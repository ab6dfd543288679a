import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { AppError } from '../errors.ts'
import { exchangeOverHttp, type RegistryExchange } from './registry-exchange.ts'

export type { SchemaRegistry } from '@kafkajs/confluent-schema-registry'

type ClientOptions = ConstructorParameters<typeof SchemaRegistry>[0]
type Middleware = NonNullable<ClientOptions['middlewares']>[number]
type CachedSchema = Parameters<SchemaRegistry['cache']['setSchema']>[2]

/** Not strict, to read schemas of other releases. zod checks formats (such as date-time), which ajv does not know by itself. */
const JSON_OPTIONS = { strict: false, validateFormats: false, logger: false } as const

/**
 * Access to a schema registry with a Confluent-compatible API. It caches fetched schemas and retries nothing: its callers do.
 * @param baseUrl the API's base, e.g. Apicurio's ends in /apis/ccompat/v7; may hold user and password
 */
export function createSchemaRegistry(baseUrl: string, exchange: RegistryExchange = exchangeOverHttp): SchemaRegistry {
  const url = new URL(baseUrl)
  const auth = { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  url.username = ''
  url.password = ''
  // The last middleware is the outermost. It sends the complete request itself and calls no other.
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
 * Registers a schema and returns its id; a known schema keeps its id. A subject's first version also sets the level BACKWARD_TRANSITIVE. Safe to
 * repeat: the next run completes a job that ended between the two steps. Until then, a second version would not be compared with the first.
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

/** The id is written into every message, so it must be a number. */
function checkedId(id: unknown): number {
  if (Number.isInteger(id)) return id as number
  throw new AppError(
    'internal',
    'The schema registry answered without a schema id: is SCHEMA_REGISTRY_URL its ccompat API?',
  )
}

/**
 * Lets {@link SchemaRegistry.decode} parse messages of this id without a request to the registry. It then checks nothing but JSON: for callers with a
 * schema of their own.
 */
export function trustSchemaId(registry: SchemaRegistry, schemaId: number): void {
  registry.cache.setSchema(schemaId, SchemaType.JSON, plainJson)
}

const plainJson: CachedSchema = {
  toBuffer: message => Buffer.from(JSON.stringify(message)),
  fromBuffer: (json: Buffer) => JSON.parse(json.toString('utf8')),
  isValid: () => true,
}
