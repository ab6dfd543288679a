/** Generates packages/client/src/generated/api.ts: the types of the management API, and a table of its calls. */
import { resolve } from 'node:path'
import type { ApiDocument, Schema } from './api-document.ts'
import { type ClientCall, listClientCalls, pageItemOf, queryOf, successesOf } from './calls.ts'
import { createTypeWriter, docOf, inBraces, keyOf } from './schema-types.ts'

export const FILE = resolve(import.meta.dirname, '../../packages/client/src/generated/api.ts')

const CALL_MODULE = '../call.ts'
const HEAD = `/** Generated from the OpenAPI document by \`npm run client-types\`. Do not edit. */
import type { PagedList, Paging, RequestOptions } from '${CALL_MODULE}'
`

/** The parameters of every list, as the type `Paging` of packages/client has them. */
const PAGING = ['limit', 'cursor']

type TypeWriter = ReturnType<typeof createTypeWriter>

export function generateClientTypes(document: ApiDocument): string {
  const writer = createTypeWriter(document.components.schemas)
  const calls = listClientCalls(document)
  const resources = [...Map.groupBy(calls, ({ resource }) => resource)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    HEAD,
    ...Object.entries(document.components.schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { description }]) => `${docOf(description, '')}export type ${name} = ${writer.namedType(name)}\n`),
    '/** The calls of the management API by resource. */',
    'export interface Api {',
    ...resources.map(
      ([resource, of]) => `  ${resource}: {\n${of.map(call => signatureOf(call, writer)).join('\n')}\n  }`,
    ),
    '}\n',
    '/** Method, path, input after the path parameters, and form of the answer of each call. */',
    'export const CALLS = {',
    ...resources.map(([resource, of]) => `  ${resource}: {\n${of.map(entryOf).join('\n')}\n  },`),
    '} as const\n',
  ].join('\n')
}

function entryOf({ name, method, path, input, answer }: ClientCall): string {
  return `    ${name}: ['${method}', '${path}', '${input}', '${answer}'],`
}

function signatureOf(client: ClientCall, writer: TypeWriter): string {
  const { name, method, path, call } = client
  const pathNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => `${param}: string`)
  const doc = docOf(`${method} ${path}: ${call.summary}`, '    ')
  const inputs = [...pathNames, ...inputOf(client, writer), 'options?: RequestOptions']
  return `${doc}    ${name}(${inputs.join(', ')}): ${answerTypeOf(client, writer)}`
}

function inputOf({ call, input }: ClientCall, { typeOf }: TypeWriter): string[] {
  switch (input) {
    case 'none':
      return []
    case 'body': {
      const schema = call.requestBody?.content['application/json']?.schema ?? {}
      return [`body${call.requestBody?.required === true ? '' : '?'}: ${typeOf(schema, { indent: '    ' })}`]
    }
    case 'query': {
      const query = queryOf(call)
      const isPaged = PAGING.every(paging => query.some(({ name }) => name === paging))
      const fields = query
        .filter(({ name }) => !isPaged || !PAGING.includes(name))
        .map(
          ({ name, required, description, schema }) =>
            `${docOf(description, '      ')}      ${keyOf(name)}${required ? '' : '?'}: ${typeOf(schema, { indent: '      ' })}`,
        )
      const types = [...(isPaged ? ['Paging'] : []), ...(fields.length > 0 ? [inBraces(fields, '    ')] : [])]
      return [`query${query.some(({ required }) => required) ? '' : '?'}: ${types.join(' & ')}`]
    }
    default:
      throw input satisfies never
  }
}

function answerTypeOf({ answer, call }: ClientCall, { typeOf }: TypeWriter): string {
  const schemas = successesOf(call).flatMap(({ content }): Schema[] => {
    const schema = content?.['application/json']?.schema
    return schema === undefined ? [] : [schema]
  })
  switch (answer) {
    case 'nothing':
      return 'Promise<void>'
    case 'stream':
      return 'Promise<Response>'
    case 'page':
      return `PagedList<${typeOf(pageItemOf(schemas[0] ?? {}) ?? {}, { indent: '    ' })}>`
    case 'json':
      return `Promise<${[...new Set(schemas.map(schema => typeOf(schema, { indent: '    ' })))].join(' | ')}>`
    default:
      throw answer satisfies never
  }
}
