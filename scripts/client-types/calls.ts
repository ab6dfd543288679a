/** The calls of the OpenAPI document with their place in the client: `GET /v1/incidents/{id}` is `client.incidents.get(id)`. */
import type { ApiCall, ApiDocument, Schema } from './api-document.ts'

/** How the client reads a successful answer. */
type AnswerForm = 'json' | 'page' | 'nothing' | 'stream'

export interface ClientCall {
  /** The resource, in camel case: `alertChannels`. */
  readonly resource: string
  /** The method of the resource: `rotateSecret`. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly call: ApiCall
  /** The argument after the path parameters. The query of a call with a body is given in the options. */
  readonly input: 'none' | 'query' | 'body'
  readonly answer: AnswerForm
}

/**
 * Lists the calls that the client offers. Calls with a token in their path are left out, because mail programs and mail providers make
 * them, and so are the calls that describe the API.
 * @throws Error if two calls would get the same name
 */
export function listClientCalls({ paths }: ApiDocument): ClientCall[] {
  const collections = new Set(
    Object.keys(paths).flatMap(path => [...path.matchAll(/([^/]+)\/\{/g)].map(([, it]) => it)),
  )
  const calls = Object.entries(paths)
    .filter(([path]) => !path.includes('{token}') && path !== '/' && path !== '/v1/openapi.json')
    .flatMap(([path, methods]) => {
      const parts = path.split('/').slice(2)
      const collection = parts.findLast(part => collections.has(part)) ?? parts[0] ?? ''
      return Object.entries(methods).map(([method, call]) => ({
        resource: camelCase(collection),
        name: nameOf(call.operationId, collection),
        method: method.toUpperCase(),
        path,
        call,
        input: inputOf(call),
        answer: answerOf(call),
      }))
    })
  const names = calls.map(({ resource, name }) => `${resource}.${name}`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`Two calls would be client.${twice}: give one another operationId`)
  return calls
}

function inputOf(call: ApiCall): ClientCall['input'] {
  if (call.requestBody?.content['application/json'] !== undefined) return 'body'
  return queryOf(call).length > 0 ? 'query' : 'none'
}

export function queryOf({ parameters = [] }: ApiCall): NonNullable<ApiCall['parameters']>[number][] {
  return parameters.filter(parameter => parameter.in === 'query')
}

/** The operationId without the name of the resource: `rotateAlertChannelSecret` of `alert-channels` is `rotateSecret`. */
function nameOf(operationId: string, collection: string): string {
  const plural = pascalCase(collection)
  return [plural, singularOf(plural)].reduce(
    (name, noun) => name.replace(new RegExp(`(?<=[a-z])${noun}(?![a-z])`), ''),
    operationId,
  )
}

function singularOf(plural: string): string {
  return plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.replace(/s$/, '')
}

function answerOf({ responses }: ApiCall): AnswerForm {
  const contents = successesOf({ responses }).map(({ content }) => content)
  if (contents.every(content => content === undefined)) return 'nothing'
  const types = contents.flatMap(content => Object.keys(content ?? {}))
  if (types.some(type => !/[/+]json$/.test(type)))
    return types.includes('application/json') ? formOf(contents) : 'stream'
  return formOf(contents)
}

function formOf(contents: readonly (ApiCall['responses'][string]['content'] | undefined)[]): 'json' | 'page' {
  const [schema] = contents.flatMap(content => content?.['application/json']?.schema ?? [])
  return schema !== undefined && pageItemOf(schema) !== undefined ? 'page' : 'json'
}

/** The schema of the items, if a schema describes a page of a list. */
export function pageItemOf({ properties }: Schema): Schema | undefined {
  return properties?.next_cursor === undefined ? undefined : properties.data?.items
}

/** The answers with a status of 2xx. */
export function successesOf({ responses }: Pick<ApiCall, 'responses'>): ApiCall['responses'][string][] {
  return Object.entries(responses).flatMap(([status, answer]) => (status.startsWith('2') ? [answer] : []))
}

function pascalCase(words: string): string {
  return words.replaceAll(/(?:^|[-_. ])(\w)/g, (_, first: string) => first.toUpperCase())
}

function camelCase(words: string): string {
  const pascal = pascalCase(words)
  return `${pascal.slice(0, 1).toLowerCase()}${pascal.slice(1)}`
}
