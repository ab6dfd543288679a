import { startMemoryApi } from '../../services/admin-api/test/test-api.ts'

/** A JSON Schema, as far as the OpenAPI document uses it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly description?: string
}

interface Content {
  readonly [mediaType: string]: { readonly schema: Schema }
}

/** One call of the OpenAPI document. */
export interface ApiCall {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header' | 'cookie'
    readonly required?: boolean
    readonly description?: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiCall>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Reads the OpenAPI document from a management API that runs in memory. */
export async function readApiDocument(): Promise<ApiDocument> {
  const { api, stop } = await startMemoryApi()
  try {
    const { body } = await api.withKey(undefined).get('/v1/openapi.json')
    return body as unknown as ApiDocument
  } finally {
    await stop()
  }
}
